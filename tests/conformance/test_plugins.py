"""A plug-in package adds an attack, a defense and an encoder through entry points and by file path."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "plugin_package"
PARTS = PACKAGE / "src" / "unembed_fixture" / "parts.py"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The plug-in package, installed by pip into a folder of its own."""
    target = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "plugin"
    source.mkdir()
    for file in PACKAGE.rglob("*"):
        if file.is_file() and file.suffix in (".py", ".toml"):
            copy = source / file.relative_to(PACKAGE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*command, "--target", str(target), str(source)], check=True, capture_output=True)
    return target


def run(code, site=None):
    return python("-c", code, site=site)


def python(*arguments, site=None, cwd=None):
    env = dict(os.environ, OMP_NUM_THREADS="1")
    if site:
        env["PYTHONPATH"] = os.pathsep.join([str(site), env.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, env=env, cwd=cwd)


def test_entry_points_pass_the_suites_and_run_in_an_audit(installed, tmp_path):
    code = f"""
import json
from unembed.attacks import ATTACKS
from unembed.runner.execute import audit
from unembed.runner.spec import build_spec
from unembed.defenses import DEFENSES
from unembed.encoders import ENCODERS, build_encoder
from unembed.testing import check_attack, check_defense, check_encoder
from unembed.testing.toys import toy_corpus

check_attack(ATTACKS.get("fixture/nearest"))
check_defense(DEFENSES.get("fixture-noise"))
check_encoder(build_encoder("fixture-letters", {{}}))
corpus = toy_corpus(400)
path = {str(tmp_path / "toy.csv")!r}
with open(path, "w") as file:
    file.write("text,side\\n" + "\\n".join(f"{{t}},{{s}}" for t, s in zip(corpus.texts, corpus.column("side"))))
spec = build_spec({{
    "data": {{"texts": path, "column": "text", "attributes": ["side"]}},
    "encoder": {{"name": "fixture-letters"}},
    "adversaries": ["insider"],
    "games": ["attribute"],
    "attacks": ["fixture/nearest"],
    "defenses": [{{"name": "fixture-noise", "scale": 3.0}}],
    "run": {{"folder": {str(tmp_path / "run")!r}, "no_cache": True}},
}})
result, _ = audit(spec)
print(json.dumps([[f.defense, f.adaptive, f.estimate.value, f.status] for f in result.findings]))
"""
    done = run(code, installed)
    assert done.returncode == 0, done.stderr
    findings = json.loads(done.stdout)
    assert [(d, a) for d, a, *_ in findings] == [
        (None, None),
        ("fixture-noise(scale=3)", False),
        ("fixture-noise(scale=3)", True),
    ]
    plain, unaware, _ = (value for _, _, value, _ in findings)
    assert findings[0][3] == "leak"
    assert unaware < plain, "three deviations of noise must cost the attack something"


def test_a_broken_plugin_names_itself(installed):
    done = run("from unembed.encoders import ENCODERS; ENCODERS.get('fixture-broken')", installed)
    assert "unembed-fixture" in done.stderr
    assert "can't be loaded" in done.stderr


def test_by_file_path():
    from unembed.attacks import ATTACKS
    from unembed.defenses import DEFENSES
    from unembed.encoders import build_encoder
    from unembed.testing import check_attack, check_defense, check_encoder

    check_attack(ATTACKS.get(f"{PARTS}:NearestClass"))
    check_defense(DEFENSES.get(f"{PARTS}:Noise"))
    check_encoder(build_encoder(f"{PARTS}:LetterCounts", {"normalise": "true"}))


BROKEN = {
    "keyword/absent": ("theirs.absent:Nothing", "ModuleNotFoundError"),
    "keyword/fails": ("theirs.fails:Thing", "ZeroDivisionError"),
    "keyword/exits": ("theirs.exits:Thing", "SystemExit"),
    "keyword/odd": ("theirs.parts:odd", "it is not a class"),
    "keyword/demanding": ("theirs.parts:Demanding", "TypeError"),
    "keyword/svm": ("theirs.parts:Demanding", "already taken by unembed.attacks.keyword.svm:KeywordSVM"),
}


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """A folder with an installed package whose attacks can't be used, each in a way of its own."""
    site = tmp_path_factory.mktemp("site")
    (site / "theirs").mkdir()
    (site / "theirs" / "__init__.py").touch()
    (site / "theirs" / "fails.py").write_text("1 / 0\n")
    (site / "theirs" / "exits.py").write_text("import sys\nsys.exit(0)\n")
    (site / "theirs" / "parts.py").write_text(
        "from unembed.attacks.keyword.svm import KeywordSVM\nodd = 3\n"
        "class Demanding(KeywordSVM):\n"
        "    def __init__(self, licence, *, seed=0):\n        self.licence, self.seed = licence, seed\n"
    )
    facts = site / "theirs-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    points = "".join(f"{name} = {target}\n" for name, (target, _) in BROKEN.items())
    (facts / "entry_points.txt").write_text(f"[unembed.attacks]\n{points}")
    return site


def test_broken_plugins_are_left_out_and_listed_and_everything_else_runs(broken, tmp_path):
    small = ["--game", "keyword", "--adversary", "insider", "--encoder", "hashing", "--set", "keyword.samples=20"]
    command = ["audit", "--texts", "generator:messages", "--max-texts", "300", *small, "--threads", "1", "-d", "run"]
    done = python("-m", "unembed", *command, site=broken, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    result = json.loads((tmp_path / "run" / "run.json").read_text())
    assert {f["attack"] for f in result["findings"]} == {"keyword/portfolio", "keyword/aligned"}
    warned = [line for line in done.stderr.splitlines() if line.startswith("warning:")]
    listed = {s["what"]: s["reason"] for s in result["skipped"]}
    for name, (_, cause) in BROKEN.items():
        assert cause in listed[f"attack {name} (theirs)"]
        assert len([line for line in warned if f"{name} (theirs)" in line and cause in line]) == 1
    assert "keyword/exits (theirs)" in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.parametrize("name", [n for n in BROKEN if n != "keyword/svm"])
def test_a_broken_plugin_that_is_asked_for_is_an_error(broken, tmp_path, name):
    texts = ["--texts", "generator:messages", "--max-texts", "300", "--encoder", "hashing"]
    done = python("-m", "unembed", "audit", *texts, "--attack", name, "-d", "run", site=broken, cwd=tmp_path)
    assert done.returncode == 2
    assert BROKEN[name][1] in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("error:")]) == 1


def test_broken_plugins_can_be_listed(broken):
    done = python("-m", "unembed", "list", "attacks", "--json", site=broken)
    assert done.returncode == 0
    listed = {e["name"]: e["broken"] for e in json.loads(done.stdout)}
    assert all(cause in listed[name] for name, (_, cause) in BROKEN.items() if name != "keyword/svm")
    assert listed["keyword/svm"] is None
