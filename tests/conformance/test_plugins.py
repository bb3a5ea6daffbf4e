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
    env = dict(os.environ, OMP_NUM_THREADS="1")
    if site:
        env["PYTHONPATH"] = os.pathsep.join([str(site), env.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)


def test_entry_points_pass_the_suites_and_run_in_an_audit(installed, tmp_path):
    code = f"""
import json
from unembed.attacks import ATTACKS
from unembed.audit.execute import audit
from unembed.audit.spec import build_spec
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
        ("fixture-noise(scale=3.0)", False),
        ("fixture-noise(scale=3.0)", True),
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
