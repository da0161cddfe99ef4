"""The local server: the package behind the page, for this page only."""

import json
import threading
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import torch
from torch import nn

from gnomon.playground.server import PlaygroundServer, ServedNetwork
from gnomon.playground.session import PlaygroundSession, PlaygroundSettings


def small_session():
    torch.manual_seed(0)
    x = torch.randn(12, 3)
    return PlaygroundSession(lambda: nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 1)), x, x[:, 0] - x[:, 1])


@pytest.fixture
def server():
    made = PlaygroundServer(small_session(), ServedNetwork("net", "words", "data", "squared loss"))
    thread = threading.Thread(target=made.serve, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.close()


def ask(server, path, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    sent = {"X-Gnomon-Token": server.token, **headers}
    with urlopen(Request(f"http://127.0.0.1:{server.port}{path}", data=data, headers=sent)) as answer:
        return json.loads(answer.read())


def status(server, path, body=None, **headers):
    with pytest.raises(HTTPError) as refused:
        ask(server, path, body, **headers)
    refused.value.close()
    return refused.value.code


def test_the_page_knows_that_it_is_served(server):
    with urlopen(server.url) as answer:
        text = answer.read().decode()
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert '<meta name="gnomon-server" content="/api">' in text


def test_requests_without_the_token_or_from_other_pages_are_refused(server):
    assert status(server, "/api/network", **{"X-Gnomon-Token": "guess"}) == 403
    assert status(server, "/api/network", Origin="http://evil.example") == 403
    assert status(server, "/api/network", Host="evil.example") == 403
    assert status(server, "/api/setup", {}, **{"X-Gnomon-Token": ""}) == 403
    assert status(server, "/", **{"X-Gnomon-Token": ""}) == 403


def test_strange_requests_are_answered_with_an_error(server):
    assert status(server, "/api/nothing") == 404
    assert status(server, "/api/setup", {"rate": 99}) == 400
    assert status(server, "/api/setup", {"rate": "much"}) == 400
    assert status(server, "/api/setup", [1]) == 400


def test_a_run_over_the_server_ends_where_training_ends(server):
    assert ask(server, "/api/network")["name"] == "net"
    setup = ask(server, "/api/setup", {"rate": 0.2, "steps": 40})["setup"]
    frame = {"step": 0}
    while frame["step"] < 40:
        frame = ask(server, "/api/advance", {"records": 5})
    assert frame["loss"] < setup["predicted"]["loss"][0]
    assert frame["loss"] == pytest.approx(setup["predicted"]["loss"][-1], rel=0.5)  # a network of 64 units


@pytest.mark.full
def test_classes_are_trained_with_cross_entropy_and_a_new_setup_ends_the_old_run():
    x = torch.randn(10, 3)
    session = PlaygroundSession(nn.Linear(3, 2), x, (x[:, 0] > 0).long())
    session.setup(PlaygroundSettings(steps=20_000, rate=0.1))
    session.advance()
    found = session.setup(PlaygroundSettings(steps=10))
    assert session.loss.name == "cross-entropy" and len(found["setup"]["f0"]) == 20
    session.stop()


def test_divergence_is_reported():
    session = small_session()
    session.setup(PlaygroundSettings(rate=4.0, steps=2000))
    frames = [session.advance(20) for _ in range(10)]
    assert frames[-1]["diverged"] or frames[-1]["step"] == 2000
    session.stop()
