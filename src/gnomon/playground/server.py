"""A local web server that connects the playground page with a user's network in Python.

Only requests with the token of this run are answered, only to the loopback address, and none that another web page
sends: the header Host must name the loopback address, and Origin, if there is one, the server itself.
"""

import json
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gnomon.core.errors import GnomonError
from gnomon.playground.page import page_path
from gnomon.playground.session import PlaygroundSession, PlaygroundSettings

__all__ = ["PlaygroundServer", "ServedNetwork"]

MAX_REQUEST_BYTES = 10_000
TOKEN_BYTES = 16
ACCEPTED = {"rate": float, "momentum": float, "optimizer": str, "steps": int, "seed": int, "batch": int}
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class ServedNetwork:
    """What the playground page shows about a user's network: its name, its layers, the data and the loss.

    >>> ServedNetwork("net", "Linear(2, 1)", "d.npz", "squared loss").name
    'net'
    """

    name: str
    module: str
    data: str
    loss: str


class PlaygroundServer:
    """Serves the playground page and a training session on 127.0.0.1, on a free port.

    >>> import torch
    >>> session = PlaygroundSession(torch.nn.Linear(2, 1), torch.eye(2), torch.ones(2))
    >>> server = PlaygroundServer(session, ServedNetwork("net", "", "", ""))
    >>> server.url.startswith("http://127.0.0.1:") and "token=" in server.url
    True
    >>> server.close()
    """

    def __init__(self, session: PlaygroundSession, network: ServedNetwork, *, port: int = 0) -> None:
        self.session, self.network = session, network
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self._one_at_a_time = Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._http.daemon_threads = True

    @property
    def port(self) -> int:
        """Returns the port that the server listens on."""
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        """Returns the web address of the playground page, including the access token."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def serve(self) -> None:
        """Answers requests of the playground page until `close` is called or Ctrl-C is pressed."""
        self._http.serve_forever()

    def close(self) -> None:
        """Ends the training run and frees the port of the server."""
        self.session.stop()
        self._http.server_close()

    def shutdown(self) -> None:
        """Makes `serve` return; another thread calls this method."""
        self._http.shutdown()

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer to a request of the playground page."""
        with self._one_at_a_time:
            match path:
                case "/api/network":
                    return asdict(self.network)
                case "/api/setup":
                    return self.session.setup(_settings(body))
                case "/api/advance":
                    return self.session.advance(max(1, int(body.get("records", 1))))
        raise KeyError(path)


def _settings(body: dict[str, Any]) -> PlaygroundSettings:
    if not isinstance(body, dict):
        raise ValueError("the settings must be a JSON object")
    chosen = {name: kind(body[name]) for name, kind in ACCEPTED.items() if name in body}
    settings = PlaygroundSettings(**chosen)
    if not (0 <= settings.rate <= 4 and 0 <= settings.momentum < 1 and 1 <= settings.steps <= 100_000):
        raise ValueError("rate must be in [0, 4], momentum in [0, 1) and steps in [1, 100000]")
    return settings


def _handler(server: PlaygroundServer) -> type[BaseHTTPRequestHandler]:
    """Returns the class that handles HTTP requests for one server."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # noqa: N802
            url = urlsplit(self.path)
            token = parse_qs(url.query).get("token", [""])[0] or self.headers.get("X-Gnomon-Token", "")
            if not self._is_allowed(token):
                self._send(HTTPStatus.FORBIDDEN, "application/json", json.dumps({"error": "not allowed"}))
            elif url.path == "/":
                page = page_path().read_text(encoding="utf-8")
                page = page.replace("<!--server-->", '<meta name="gnomon-server" content="/api">', 1)
                self._send(HTTPStatus.OK, "text/html; charset=utf-8", page)
            else:
                self._respond(lambda: server.answer(url.path, {}))

        def do_POST(self) -> None:  # noqa: N802
            length = int(self.headers.get("Content-Length") or 0)
            if not self._is_allowed(self.headers.get("X-Gnomon-Token", "")) or length > MAX_REQUEST_BYTES:
                self._send(HTTPStatus.FORBIDDEN, "application/json", json.dumps({"error": "not allowed"}))
                return
            body = self.rfile.read(length)
            self._respond(lambda: server.answer(urlsplit(self.path).path, json.loads(body or b"{}")))

        def log_message(self, *_: object) -> None:
            """Does not log requests, because the terminal belongs to the user."""

        def _is_allowed(self, token: str) -> bool:
            here = (f"127.0.0.1:{server.port}", f"localhost:{server.port}")
            origin = self.headers.get("Origin")
            own = origin is None or origin in tuple(f"http://{host}" for host in here)
            return own and self.headers.get("Host") in here and secrets.compare_digest(token, server.token)

        def _respond(self, answer: Callable[[], dict[str, Any]]) -> None:
            try:
                status, content = HTTPStatus.OK, answer()
            except KeyError:
                status, content = HTTPStatus.NOT_FOUND, {"error": "no such address"}
            except (GnomonError, ValueError, TypeError, AttributeError, RuntimeError) as reason:
                status, content = HTTPStatus.BAD_REQUEST, {"error": str(reason)}
            self._send(status, "application/json", json.dumps(_finite(content), allow_nan=False))

        def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
            data = text.encode()
            self.send_response(status)
            headers = {
                "Content-Type": kind, "Content-Length": str(len(data)), "Content-Security-Policy": POLICY,
                "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
            }  # fmt: skip
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    return Handler


def _finite(value: Any) -> Any:
    """Replaces NaN and infinite numbers by null, because JSON has neither."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list) else value
