"""What is documented exists: links, commands, targets, code blocks, versions."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import typer

from unembed._version import __version__
from unembed.attacks import ATTACKS
from unembed.cli.app import app
from unembed.defenses import DEFENSES
from unembed.runner.spec import build_spec
from unembed.testing import check_attack

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
VERBS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
#: Folders of one machine, spelt so that this file does not hold them.
MACHINE = re.compile("(?<![\\w.])/(" + "|".join(("work", "tmp", "home", "root")) + ")/")
TEXT = {".py", ".md", ".toml", ".yml", ".yaml", ".cff", ".txt", ".j2", ".css", ""}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(language: str) -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for number, block in enumerate(re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)):
            found.append((f"{name(page)}#{number}", block))
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    surroundings = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


def test_site_builds_without_a_broken_link(site: Path) -> None:
    assert (site / "design" / "index.html").is_file()
    assert (site / "images" / "report.png").is_file()


def test_site_fetches_nothing_from_elsewhere(site: Path) -> None:
    fetched = re.compile(
        r"""<(?:script|img|iframe|link[^>]*rel="?(?:stylesheet|preconnect)"?)[^>]*(?:src|href)="?https?://"""
    )
    for page in site.rglob("*.html"):
        assert not fetched.search(page.read_text("utf-8")), page.relative_to(site)


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent == ROOT], ids=name)
def test_links_of_pages_beside_the_site_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8")):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{name(page)} links to {target}"


def console_lines() -> list[str]:
    lines = []
    for _, block in blocks("console"):
        joined = block.replace("\\\n", " ")
        lines += [line.removeprefix("$ ") for line in joined.splitlines() if line.startswith("$ ")]
    return lines


def test_documented_commands_exist() -> None:
    seen = 0
    for line in console_lines():
        words = shlex.split(line, comments=True)
        if words[:1] != ["unembed"]:
            continue
        seen += 1
        verb = VERBS.get(words[1]) if words[1] in VERBS else None
        assert verb is not None or words[1].startswith("--"), line
        if verb is None:
            continue
        inner = getattr(verb, "commands", {}).get(words[2]) if len(words) > 2 else None
        known = {o for p in (inner or verb).params for o in (*p.opts, *p.secondary_opts)} | {"--help", "--debug"}
        for word in words[2:]:
            if re.match(r"--?[a-z]", word):
                assert word.partition("=")[0] in known, f"{word} in: {line}"
    assert seen > 20


def test_documented_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.M))
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    asked = set(re.findall(r"(?:`|\$ )make ([a-z]+)", text))
    assert {"demo", "test", "lint", "docs", "bench"} <= targets
    assert asked <= targets
    assert {"demo", "test"} <= set(re.findall(r"make ([a-z]+)", (ROOT / "README.md").read_text("utf-8")))


@pytest.mark.parametrize(("where", "code"), blocks("python"), ids=lambda v: v if "#" in v[:80] else "")
def test_python_blocks_are_python(where: str, code: str) -> None:
    ast.parse(code, filename=where)


@pytest.mark.parametrize(("where", "code"), blocks("toml"), ids=lambda v: v if "#" in v[:80] else "")
def test_toml_blocks_are_audit_files_or_parts_of_packages(where: str, code: str) -> None:
    if 'version = "2"' in code:  # the pair of wrong and right in the footguns, one key twice
        code = code.splitlines()[1]
    data = tomllib.loads(code)
    if "project" in data:
        return
    build_spec({**data, "data": {"texts": "x.csv", **data.get("data", {})}}, where)


def test_examples_audit_file_is_valid() -> None:
    for file in (ROOT / "examples").glob("*.toml"):
        build_spec(tomllib.loads(file.read_text("utf-8")), name(file))


def test_versions_agree() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.search(r"^version: (.+)$", citation, re.M)[1] == __version__  # type: ignore[index]
    changes = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert changes[0] == __version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" in project["project"]["dynamic"], "the version stands in one place, _version.py"


def test_torch_is_pinned_in_the_constraints_and_nowhere_else() -> None:
    assert re.search(r"^torch==\d", (ROOT / "constraints.txt").read_text("utf-8"), re.M)
    assert "torch==" not in (ROOT / "pyproject.toml").read_text("utf-8")


def test_every_dependency_has_its_reason() -> None:
    design = (ROOT / "docs" / "design.md").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["standard"]]
    wanted += project["optional-dependencies"]["neural"]
    names = {re.split(r"[\[<>=]", requirement)[0] for requirement in wanted} - {"unembed"}
    assert not [n for n in sorted(names) if n not in design]


def test_no_text_names_folders_of_a_machine() -> None:
    folders = ("src", "docs", "examples", "benchmarks", "tests")
    files = [
        f for folder in folders for f in (ROOT / folder).rglob("*") if f.is_file() and "__pycache__" not in f.parts
    ]
    files += [f for f in ROOT.iterdir() if f.is_file()]
    for file in files:
        if file.suffix in TEXT and not any(part.endswith(".egg-info") for part in file.parts):
            assert not MACHINE.search(file.read_text("utf-8")), name(file)


def test_attack_of_the_how_to_keeps_the_contract(tmp_path: Path) -> None:
    code = next(block for where, block in blocks("python") if where == "docs/how-to/add-an-attack.md#0")
    (tmp_path / "nearest.py").write_text(code, encoding="utf-8")
    check_attack(ATTACKS.get(f"{tmp_path / 'nearest.py'}:NearestMean"))


def test_the_how_to_of_defenses_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    vectors = np.random.default_rng(0).standard_normal((300, 16)).astype(np.float32)
    np.save("vectors.npy", vectors)
    seen: dict[str, object] = {}
    for where, code in blocks("python"):
        if where.startswith("docs/how-to/protect.md"):
            exec(compile(code, where, "exec"), seen)
    assert (tmp_path / "kept-defense" / "key.json").is_file()
    query = seen["query"]
    assert isinstance(query, np.ndarray)
    assert query.shape == (1, 16)
    assert not np.allclose(query, vectors[:1], atol=0.1)


def test_the_how_to_of_defenses_names_all_of_them_with_their_parameters() -> None:
    page = (ROOT / "docs" / "how-to" / "protect.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \|(.*)\|$", page, re.M))
    built_in = [name for name in DEFENSES if DEFENSES.origin(name).startswith("unembed.")]
    assert set(rows) == set(built_in)
    for defense in built_in:
        for parameter in set(DEFENSES.get(defense).param_names()) - {"seed"}:
            assert f"`{parameter}`" in rows[defense], f"{defense}: {parameter}"


def test_the_how_to_of_canaries_runs_on_a_model_of_transformers() -> None:
    import torch
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    letters = {c: i for i, c in enumerate(["<pad>", *"0123456789 abcdefghijklmnopqrstuvwxyz"])}
    plain = Tokenizer(models.WordLevel(letters, unk_token="<pad>"))
    plain.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=len(letters), n_layer=1, n_head=1, n_embd=8, n_positions=64)
    seen: dict[str, object] = {
        "training_texts": [],
        "tokenizer": PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="<pad>"),
        "model": GPT2LMHeadModel(config).eval(),
    }
    for where, code in blocks("python"):
        if where.startswith("docs/how-to/canaries.md"):
            exec(compile(code, where, "exec"), seen)
    assert len(seen["training_texts"]) == 1 + 4 + 16 + 64  # type: ignore[arg-type]
    assert list(seen["frame"]["times"]) == [0, 1, 4, 16, 64]  # type: ignore[index]
    assert seen["frame"]["bits"].max() < 15, "a model that has learnt nothing tells nothing"  # type: ignore[index]
