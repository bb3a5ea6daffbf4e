"""Audits of an endpoint from the command line: what is sent, who allows it, and what becomes of a key."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from command_line import ONCE, Result

from unembed.testing.toys import LeakyEncoder

pytest.importorskip("httpx")
_ENCODER = LeakyEncoder(dimension=16)
Run = Callable[..., Result]
KEY = "sk-very-secret-key"
#: Two adversaries, one fast attack.
QUESTION = ("--game", "keyword", "--attack", "keyword/svm", "--set", "keyword.samples=20", "--threads", "1", *ONCE)


class Embeddings(BaseHTTPRequestHandler):
    """Answers with the leaky encoder's vectors, until the server is told to fail."""

    server: EmbeddingsServer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests += 1
        self.server.keys.append(self.headers.get("Authorization"))
        data = [{"index": i, "embedding": v} for i, v in enumerate(_ENCODER.encode(asked["input"]).tolist())]
        body = json.dumps({"model": "leaky", "data": data}).encode()
        self.send_response(503 if self.server.requests > self.server.most else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


class EmbeddingsServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Embeddings)
        self.requests, self.most = 0, 10_000
        self.keys: list[str | None] = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingsServer]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    running = EmbeddingsServer()
    threading.Thread(target=running.serve_forever, args=(0.05,), daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()


def texts_of(messages: Path) -> tuple[object, ...]:
    return "audit", "--texts", messages, "--column", "text", "--max-texts", "200", *QUESTION


def encoder(url: str, *options: str) -> list[str]:
    given = [part for option in ("model=leaky", *options) for part in ("--encoder-option", option)]
    return ["--encoder", f"endpoint:{url}", *given]


def everything_under(folder: Path) -> str:
    return b"".join(p.read_bytes() for p in folder.rglob("*") if p.is_file()).decode("latin-1")


@pytest.mark.parametrize("cache", [[], ["--no-cache"]], ids=["cached", "not cached"])
def test_an_audit_makes_the_requests_that_the_dry_run_announced(
    server: EmbeddingsServer, run: Run, messages: Path, tmp_path: Path, cache: list[str]
) -> None:
    command = (*texts_of(messages), *encoder(server.url, "batch_size=16"), "-d", tmp_path / "run", *cache)
    announced = json.loads(run(*command, "--dry-run", "--json").out)["endpoint"]["requests"]
    assert server.requests == 0
    done = run(*command)
    assert done.code == 0, done.err
    assert server.requests == announced > 20


def test_a_small_price_is_told_with_its_currency(
    server: EmbeddingsServer, run: Run, messages: Path, tmp_path: Path
) -> None:
    for price, told in (("0.02", "cost below 0.01 in the currency of"), ("0", "cost 0.00 in the currency of")):
        options = encoder(server.url, f"price_per_million_tokens={price}")
        shown = " ".join(run(*texts_of(messages), *options, "-d", tmp_path / "run", "--dry-run").out.split())
        assert told in shown
    options = encoder(server.url, "price_per_million_tokens=0.02", "currency=EUR")
    done = run(*texts_of(messages), *options, "-d", tmp_path / "run", "--dry-run", "--json")
    assert "cost below 0.01 EUR." in " ".join(done.err.split())
    assert json.loads(done.out)["endpoint"]["currency"] == "EUR"
    assert server.requests == 0


def test_the_time_of_an_endpoint_is_not_guessed(
    server: EmbeddingsServer, run: Run, messages: Path, tmp_path: Path
) -> None:
    done = run(*texts_of(messages), *encoder(server.url), "-d", tmp_path / "run", "--dry-run", "--json")
    expected = json.loads(done.out)["time"]
    assert (expected["encoding_seconds"], expected["trial_texts"]) == (None, 0)
    assert expected["measuring_seconds"] > 0
    assert "the endpoint's comes on top" in " ".join(done.err.split())
    assert server.requests == 0


def test_after_a_server_that_broke_down_the_same_command_goes_on(
    server: EmbeddingsServer, run: Run, messages: Path, tmp_path: Path
) -> None:
    command = (*texts_of(messages), *encoder(server.url, "retries=0", "max_concurrency=1"), "-d", tmp_path / "run")
    server.most = 3
    broken = run(*command)
    assert broken.code == 3
    assert len(broken.errors) == 1
    assert "run the same again" in broken.err
    before, server.most = server.requests, 10_000
    assert run(*command).code == 0
    announced = json.loads(run(*command, "--dry-run", "--json").out)["endpoint"]["requests"]
    assert server.requests - before < announced


@pytest.mark.parametrize("option", [f"api_key_env={KEY}", f"api_key={KEY}", f"token={KEY}", KEY])
def test_a_key_on_the_command_line_is_refused_and_stays_nowhere(
    server: EmbeddingsServer, run: Run, messages: Path, tmp_path: Path, option: str
) -> None:
    done = run(*texts_of(messages), *encoder(server.url, option), "-d", tmp_path / "run", "-o", tmp_path / "r.html")
    assert done.code == 2
    assert len(done.errors) == 1
    assert KEY not in done.out + done.err + everything_under(tmp_path)
    assert "put the key into" in done.err or "NAME=VALUE" in done.err
    assert server.requests == 0


def test_a_key_of_the_environment_is_sent_and_stays_nowhere(
    server: EmbeddingsServer, run: Run, messages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDINGS_KEY", KEY)
    monkeypatch.setenv("UNEMBED_CACHE", str(tmp_path / "cache"))
    options = encoder(server.url, "api_key_env=EMBEDDINGS_KEY")
    done = run(*texts_of(messages), *options, "-d", tmp_path / "run", "-o", tmp_path / "report.md")
    assert done.code == 0, done.err
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert KEY not in done.out + done.err + everything_under(tmp_path)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("allow_remote = true", "--allow-remote"),
        ('api_key_env = "AWS_SECRET_ACCESS_KEY"', "--encoder-option api_key_env=NAME"),
        (f'api_key = "{KEY}"', "put the key into an environment variable"),
    ],
)
def test_an_audit_file_says_neither_what_leaves_the_machine_nor_with_which_key(
    run: Run, messages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, wanted: str
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    file = tmp_path / "audit.toml"
    file.write_text(
        f'[data]\ntexts = "{messages}"\ncolumn = "text"\n[run]\nfolder = "{tmp_path / "run"}"\n'
        f'[encoder]\nname = "endpoint:https://models.invalid/v1"\nmodel = "m"\nretries = 0\n{line}\n'
    )
    for more in ([], ["--allow-remote"]):
        done = run("audit", file, *more)
        assert done.code == 2, done.err
        assert len(done.errors) == 1
        assert wanted in done.err
        assert KEY not in done.out + done.err


def test_who_runs_an_audit_file_gives_the_permission(
    server: EmbeddingsServer, run: Run, messages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "audit.toml"

    def tried(url: str, *options: str) -> Result:
        file.write_text(
            f'[data]\ntexts = "{messages}"\ncolumn = "text"\nmax_texts = 200\n[run]\nfolder = "{tmp_path / "run"}"\n'
            f'[encoder]\nname = "endpoint:{url}"\nmodel = "leaky"\nretries = 0\n'
        )
        return run("audit", file, *QUESTION, *options)

    refused = tried("https://models.invalid/v1")
    assert refused.code == 2
    assert "models.invalid: add --allow-remote" in refused.err
    assert not (tmp_path / "run").exists(), "refused before any text is read"
    # Allowed, it gets as far as looking for the host, which does not exist.
    assert "the connection failed" in tried("https://models.invalid/v1", "--allow-remote").err
    monkeypatch.setenv("EMBEDDINGS_KEY", KEY)
    done = tried(server.url, "--encoder-option", "api_key_env=EMBEDDINGS_KEY")
    assert done.code == 0, done.err
    assert set(server.keys) == {f"Bearer {KEY}"}
