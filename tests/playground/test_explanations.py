"""The page names claims of the atlas and functions of the package that exist."""

import importlib
import re

from gnomon.atlas.catalog import catalog
from gnomon.playground import page_path

WEB = page_path().with_name("web")


def sources():
    return "\n".join(path.read_text("utf-8") for path in sorted((WEB / "ui").glob("*.ts")))


def exists(name):
    """Whether a dotted name such as gnomon.dynamics.training_modes can be imported."""
    parts = name.split(".")
    found = importlib.import_module(parts[0])
    for part in parts[1:]:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def test_every_claim_is_in_the_atlas():
    text = sources()
    named = set(re.findall(r'claim: "([a-z0-9-]+)"', text))
    table = re.search(r"PANEL_CLAIMS[^=]*= \{(.*?)\};", text, re.DOTALL)[1]
    named |= set(re.findall(r': "([a-z0-9-]+)"', table))
    assert len(named) >= 15
    assert named <= set(catalog())


def test_every_function_that_the_page_names_exists():
    named = set(re.findall(r"\bgnomon(?:\.[A-Za-z_]\w*)+", sources()))
    assert len(named) >= 10 and not exists("gnomon.dynamics.nothing")
    assert [name for name in sorted(named) if not exists(name)] == []
