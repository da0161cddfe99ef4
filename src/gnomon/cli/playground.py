"""``gnomon playground``: shows predicted and real training side by side in the browser."""

from typing import Annotated

import typer


def playground(
    network: Annotated[
        str | None, typer.Argument(help="file.py:name of a network, or of a function that builds it.", metavar="MODEL")
    ] = None,
    data: Annotated[
        str, typer.Option(help="data.npz, data.csv, data.parquet, folder/ of images, file.py:function, or digits.")
    ] = "digits",
    target: Annotated[str | None, typer.Option(help="Target column of a csv or parquet file.")] = None,
    port: Annotated[int, typer.Option(help="Port of the local server; by default a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser, or only print its address.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> None:
    """Open an interactive page that compares predicted and real training.

    Without a model the page works from disk, with networks of its own. With a model the same page shows your network:
    gnomon predicts and trains it behind a server on this machine, until you press Ctrl-C.
    """
    import webbrowser

    from gnomon.playground.page import page_path

    if network is None:
        address = page_path().as_uri()
        print(address)
        if browser:
            webbrowser.open(address)
        return
    from torch import Tensor

    from gnomon.cli import sources
    from gnomon.core.errors import InputError
    from gnomon.core.inputs.source import data_source
    from gnomon.playground.server import PlaygroundServer, ServedNetwork
    from gnomon.playground.session import MAX_EXAMPLES, PlaygroundSession

    module = sources.load_model(network)
    given = sources.load_data(data, target, seed)
    examples = data_source(given.train).first(MAX_EXAMPLES)
    x, y = data_source((examples.x, examples.y)).pair()
    if not isinstance(x, Tensor):
        raise InputError("--data has several input tensors; the playground needs data with one input tensor")
    session = PlaygroundSession(module, x, y)
    words = " ".join(str(module if not callable(module) or hasattr(module, "parameters") else module()).split())
    shown = ServedNetwork(network, words, f"{data} ({len(y)} examples)", session.loss.name)
    server = PlaygroundServer(session, shown, port=port)
    print(f"Serving {network} on {server.url}\nPress Ctrl-C to stop.", flush=True)
    if browser:
        webbrowser.open(server.url)
    try:
        server.serve()
    except KeyboardInterrupt:
        print("Stopped.")
    finally:
        server.close()
