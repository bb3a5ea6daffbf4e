"""The rooms keep their order, and importing stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import unembed
from unembed.attacks import ATTACKS
from unembed.games import GAMES
from unembed.games.threat import ADVERSARIES

PACKAGE = Path(unembed.__file__).parent
ORDER = [
    *(
        "metrics",
        "nn",
        "corpora",
        "encoders",
        "artifacts",
        "shadows",
        "collections",
        "defenses",
        "games",
        "attacks",
        "utility",
    ),
    *("results", "gate", "runner", "frontier", "report", "papers", "api", "cli", "testing"),
]
HEAVY = ("torch", "sklearn", "transformers", "pyarrow")
BESIDE = {"errors", "files", "registry", "seeds", "params", "sealed", "strict", "writing", "_version"}
FILES = sorted(PACKAGE.rglob("*.py"))


def room_of(path):
    part = path.relative_to(PACKAGE).parts[0]
    return part.removesuffix(".py")


def imported_rooms(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "unembed":
                names = [f"unembed.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("unembed."):
                yield name.split(".")[1]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_room_imports_one_below_it(path):
    room = room_of(path)
    for other in imported_rooms(path):
        if other in BESIDE or other == "__version__":
            continue
        assert other in ORDER, f"{other} is not a room"
        if room in ORDER:
            assert ORDER.index(other) <= ORDER.index(room), f"{room} imports {other}, which lies below it"
        else:
            assert room in ("__init__", "__main__"), f"{path.name} stands beside the rooms and imports {other}"


def test_every_room_says_what_it_is_for():
    for room in ORDER:
        tree = ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), room


@pytest.mark.parametrize("statement", ["import unembed", "import unembed.cli", "from unembed.attacks import ATTACKS"])
def test_importing_loads_nothing_heavy(statement):
    code = f"{statement}; import sys; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_modules_stay_small():
    long = {str(p.relative_to(PACKAGE)): n for p in FILES if (n := len(p.read_text().splitlines())) > 450}
    assert not long


NAMING_ROOMS = {"games", "attacks", "papers", "testing"}
#: Strings that are also the name of a game or adversary, and what they mean where they stand.
OTHER_MEANINGS = {
    ("corpora", "names"),  # a class of words, a module
    ("corpora", "pattern"),  # what a format is called in a message
    ("nn", "weights"),  # what a seed is for
    ("encoders", "weights"),  # a key in a file
    ("results", "weights"),  # what an adversary may hold
    ("runner", "fingerprint"),  # a digest
    ("cli", "fingerprint"),  # a command
    ("cli", "presence"),  # a command
    ("runner", "candidates"),  # a parameter: encoders
    ("cli", "candidates"),  # a key in a document: encoders
}


def names_of_questions():
    """Names of games, attacks and adversaries that come with unembed."""
    return {*GAMES.registered(), *ATTACKS.registered(), *ADVERSARIES}


def strings_in(path):
    """Every string of a file but its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented)
                  and node.body and isinstance(node.body[0], ast.Expr)}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_only_rooms_of_questions_name_a_question(path):
    if room_of(path) not in NAMING_ROOMS:
        named = names_of_questions() & set(strings_in(path))
        assert not {(room_of(path), name) for name in named} - OTHER_MEANINGS


#: Files whose types other people write against.
CONTRACTS = [
    *("games/__init__.py", "games/base.py", "games/asking.py", "games/play.py", "games/threat.py"),
    *("attacks/__init__.py", "attacks/base.py", "defenses/base.py", "encoders/base.py", "collections/base.py"),
    *("utility/base.py", "artifacts/base.py", "results/identity.py", "runner/cell.py"),
]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_contracts_say_what_they_take_and_give(contract):
    tree = ast.parse((PACKAGE / contract).read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "Any" not in names
