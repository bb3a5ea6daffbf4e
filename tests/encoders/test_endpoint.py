"""The endpoint encoder against a real HTTP server on loopback that misbehaves in every way we know."""

from __future__ import annotations

import base64
import email.utils
import json
import logging
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from unembed.encoders import build_encoder
from unembed.encoders.cache import CachedEncoder, EmbeddingCache
from unembed.encoders.endpoint import FINGERPRINT_SENTENCE, EndpointEncoder, fingerprint
from unembed.encoders.endpoint_answers import retry_after
from unembed.errors import CannotMeasureError, DataError, RemoteNotAllowedError, UsageError

pytest.importorskip("httpx")
KEY = "sk-very-secret-key"
DIMENSION = 12


def vector(text: str) -> list[float]:
    return np.random.default_rng(abs(sum(ord(c) * (i + 1) for i, c in enumerate(text)))).normal(size=DIMENSION).tolist()


def good(texts: list[str]) -> dict:
    data = [{"object": "embedding", "index": i, "embedding": vector(t)} for i, t in enumerate(texts)]
    return {"object": "list", "model": "tiny-1", "data": data, "usage": {"prompt_tokens": 1}}


class Server(ThreadingHTTPServer):
    """``script(number, texts)`` says how to answer the n-th request after the probe; None: properly."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = lambda number, texts: None
        self.requests: list[list[str]] = []
        self.headers: list[dict[str, str]] = []
        self.payloads: list[dict] = []
        self.running = self.most = 0
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        server: Server = self.server
        payload = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = payload["input"]
        with server.lock:
            server.headers.append({k.lower(): v for k, v in self.headers.items()})
            server.payloads.append(payload)
            probe = texts == [FINGERPRINT_SENTENCE]
            number = len(server.requests)
            if not probe:
                server.requests.append(texts)
            server.running += 1
            server.most = max(server.most, server.running)
        try:
            answer = None if probe else server.script(number, texts)
            if answer is None:
                answer = (200, {}, good(texts))
            self._send(*answer)
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            with server.lock:
                server.running -= 1

    def _send(self, status, headers, body):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in ({"content-length": str(len(raw))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)
        self.close_connection = True


@pytest.fixture
def server():
    running = Server()
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()


@pytest.fixture(autouse=True)
def no_real_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr("unembed.encoders.endpoint_client._FIRST_WAIT", 0.01)


def encoder(server, **options):
    return EndpointEncoder(server.url, model="tiny", **({"timeout": 5.0} | options))


TEXTS = [f"sentence {i}" for i in range(10)]
EXPECTED = np.array([vector(t) for t in TEXTS], dtype=np.float32)


def once(answer):
    """A script that gives this answer to the first request and proper ones after it."""
    return lambda number, texts: answer(texts) if number == 0 else None


def test_batches_in_order_and_in_parallel(server):
    server.script = lambda number, texts: time.sleep(0.05)
    found = encoder(server, batch_size=2, max_concurrency=3).encode(TEXTS)
    np.testing.assert_array_equal(found, EXPECTED)
    assert max(map(len, server.requests)) == 2
    assert 1 < server.most <= 3
    assert encoder(server).encode([]).shape == (0, DIMENSION)


def test_token_limit_splits_batches(server):
    encoder(server, batch_tokens=6).encode(TEXTS)
    assert max(map(len, server.requests)) == 2


@pytest.mark.parametrize(
    "failure",
    [
        lambda texts: (429, {"retry-after": "0"}, {"error": {"code": "rate_limit_exceeded"}}),
        lambda texts: (429, {"retry-after": email.utils.formatdate(time.time() - 5, usegmt=True)}, {}),
        lambda texts: (429, {"retry-after": "nonsense"}, {}),
        lambda texts: (500, {}, b"oops"),
        lambda texts: (503, {}, {}),
        lambda texts: (200, {"content-length": "5000"}, good(texts)),
        lambda texts: (200, {}, json.dumps(good(texts)).encode()[:-40]),
        lambda texts: (200, {}, b"<html>a proxy says hello</html>"),
    ],
    ids=["429", "429 date", "429 nonsense", "500", "503", "cut body", "cut json", "html"],
)
def test_passing_failures_are_repeated(server, failure):
    server.script = lambda number, texts: failure(texts) if number < 2 else None
    np.testing.assert_array_equal(encoder(server, max_concurrency=1).encode(TEXTS), EXPECTED)
    assert len(server.requests) == 3


def test_lasting_failures_end_in_could_not_measure(server):
    server.script = lambda number, texts: (500, {}, {"error": {"type": "server_error", "message": texts[0]}})
    with pytest.raises(CannotMeasureError, match=r"failed 3 times: HTTP 500 \(server_error\)") as caught:
        encoder(server, retries=2).encode(TEXTS)
    assert "sentence" not in str(caught.value)
    assert len(server.requests) == 3


def test_a_server_that_hangs_runs_into_the_timeout(server):
    server.script = once(lambda texts: time.sleep(1.0))
    np.testing.assert_array_equal(encoder(server, timeout=0.3).encode(TEXTS), EXPECTED)
    server.script = lambda number, texts: time.sleep(1.0)
    with pytest.raises(CannotMeasureError, match=r"no answer within 0\.3 s"):
        encoder(server, timeout=0.3, retries=1).encode(TEXTS)


def test_nobody_listening(server):
    with pytest.raises(CannotMeasureError, match="ConnectError"):
        EndpointEncoder("http://127.0.0.1:9/v1", model="m", retries=1).encode(["a"])


def test_waiting_times_are_read_and_capped():
    assert retry_after("3", 60) == 3
    assert retry_after("9999", 60) == 60
    assert retry_after("-4", 60) == 0
    assert retry_after("nan", 60) is None
    assert retry_after("soon", 60) is None
    assert retry_after(None, 60) is None
    soon = email.utils.formatdate(time.time() + 30, usegmt=True)
    assert 25 < retry_after(soon, 60) <= 30


def test_a_spent_quota_is_not_repeated(server):
    server.script = lambda number, texts: (429, {}, {"error": {"code": "insufficient_quota"}})
    with pytest.raises(CannotMeasureError, match="insufficient_quota"):
        encoder(server).encode(TEXTS)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 413])
def test_a_batch_too_large_is_halved(server, status):
    server.script = lambda number, texts: (status, {}, {}) if len(texts) > 3 else None
    np.testing.assert_array_equal(encoder(server).encode(TEXTS), EXPECTED)


def test_a_text_refused_alone_is_named_by_its_row(server):
    server.script = lambda number, texts: (
        (400, {}, {"error": {"code": "too_long", "message": TEXTS[6]}}) if TEXTS[6] in texts else None
    )
    with pytest.raises(DataError, match=r"row 6: HTTP 400 \(too_long\)") as caught:
        encoder(server).encode(TEXTS)
    assert "sentence" not in str(caught.value)


def test_empty_texts_are_named_before_anything_is_sent(server):
    with pytest.raises(DataError, match=r"2 texts are empty \(rows 1, 2\)"):
        encoder(server).encode(["a", "", "  \n"])
    assert not server.headers


def test_shuffled_and_missing_indexes(server):
    server.script = lambda number, texts: (200, {}, {**good(texts), "data": good(texts)["data"][::-1]})
    np.testing.assert_array_equal(encoder(server).encode(TEXTS), EXPECTED)
    server.script = lambda number, texts: (
        200,
        {},
        {"model": "tiny-1", "data": [{"embedding": vector(t)} for t in texts]},
    )
    np.testing.assert_array_equal(encoder(server).encode(TEXTS), EXPECTED)


def test_base64_vectors(server):
    def answer(number, texts):
        body = good(texts)
        for item in body["data"]:
            item["embedding"] = base64.b64encode(np.array(item["embedding"], dtype="<f4").tobytes()).decode()
        return 200, {}, body

    server.script = answer
    np.testing.assert_array_equal(encoder(server).encode(TEXTS), EXPECTED)


def changed(**fields):
    return lambda texts: {**good(texts), **fields}


def with_embedding(value):
    def make(texts):
        body = good(texts)
        body["data"][-1]["embedding"] = value
        return body

    return make


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda texts: {**good(texts), "data": good(texts)["data"][1:]}, "9 vectors for 10 texts"),
        (lambda texts: {**good(texts), "data": [good(texts)["data"][0]] * 10}, "'index' fields"),
        (changed(data=None), "no list 'data'"),
        (lambda texts: [], "no list 'data'"),
        (changed(data=[{}] * 10), "without 'embedding'"),
        (changed(model="tiny-2"), "changed its model"),
        (with_embedding([1.0, 2.0]), "different lengths"),
        (with_embedding([float("nan")] * DIMENSION), "NaN"),
        (with_embedding(["a"] * DIMENSION), "real numbers"),
        (with_embedding(None), "different lengths|real numbers"),
        (with_embedding("%%%"), "base64"),
        (
            lambda texts: {"model": "tiny-1", "data": [{"embedding": [1.0]} for _ in texts]},
            f"1 dimensions where {DIMENSION}",
        ),
    ],
)
def test_answers_that_can_not_be_right_are_errors(server, body, message):
    server.script = lambda number, texts: (200, {}, body(texts))
    with pytest.raises(DataError, match=message):
        encoder(server).encode(TEXTS)


def test_redirects_are_not_followed(server):
    server.script = lambda number, texts: (307, {"location": "http://elsewhere.example/v1?token=x"}, {})
    with pytest.raises(UsageError, match=r"redirects to elsewhere\.example, which is not followed"):
        encoder(server).encode(TEXTS)


@pytest.mark.parametrize("status", [401, 403])
def test_the_key_is_sent_and_never_shown(server, status, monkeypatch, caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    server.script = lambda number, texts: (status, {}, {"error": {"code": "invalid_api_key", "message": KEY}})
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        encoder(server).encode(TEXTS)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    keyed = encoder(server)
    with pytest.raises(UsageError, match="OPENAI_API_KEY is set but was refused") as caught:
        keyed.encode(TEXTS)
    assert server.headers[-1]["authorization"] == f"Bearer {KEY}"
    server.script = lambda number, texts: None
    CachedEncoder(keyed, EmbeddingCache(tmp_path)).encode(TEXTS)
    kept = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()).decode("latin-1")
    for shown in (str(caught.value), repr(keyed), str(keyed.card), caplog.text, kept):
        assert KEY not in shown
        assert "sentence 3" not in shown


def test_unusable_keys_and_addresses(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "two\nlines")
    with pytest.raises(UsageError, match="no usable key") as caught:
        encoder(server).encode(TEXTS)
    assert "lines" not in str(caught.value)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(UsageError, match="unencrypted"):
        EndpointEncoder("http://far.example/v1", model="m", allow_remote=True).encode(["a"])
    for url in ("far.example", "ftp://x/v1", "https://user:pw@x/v1", "https://x/v1?key=1"):
        with pytest.raises(UsageError, match="base_url"):
            EndpointEncoder(url, model="m", allow_remote=True).encode(["a"])


@pytest.mark.parametrize("url", ["https://api.example/v1", "http://10.0.0.4/v1", "http://127.0.0.1.example/v1"])
def test_nothing_leaves_the_machine_unless_allowed(url):
    with pytest.raises(RemoteNotAllowedError, match="allow_remote=true"):
        EndpointEncoder(url, model="m").encode(["a"])


def test_a_proxy_of_the_environment_gets_no_loopback_traffic(server, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    np.testing.assert_array_equal(encoder(server).encode(TEXTS), EXPECTED)


def test_the_cap_on_requests(server):
    with pytest.raises(UsageError, match="5 more requests are needed after 1"):
        encoder(server, max_requests=5, batch_size=2).encode(TEXTS)
    assert not server.requests
    server.script = lambda number, texts: (500, {}, {})
    with pytest.raises(UsageError, match="used up"):
        encoder(server, max_requests=3).encode(TEXTS)
    assert len(server.requests) == 2


def test_estimate_sends_nothing(server):
    estimate = encoder(server, batch_size=4, price_per_million_tokens=2.0).estimate(TEXTS)
    assert estimate.requests == 3
    assert estimate.tokens == 30
    assert estimate.cost == pytest.approx(6e-5)
    assert not server.headers


def test_options_reach_the_server(server):
    made = build_encoder(f"endpoint:{server.url}", {"model": "tiny", "dimensions": "12", "prompts": '{"query": "q: "}'})
    made.encode(["x"], role="query")
    assert server.requests == [["q: x"]]
    assert server.payloads[-1]["dimensions"] == 12
    assert made.card.revision == "tiny-1"
    assert not made.card.remote
    with pytest.raises(DataError, match="12 dimensions where 5"):
        _ = encoder(server, dimensions=5).card


def test_fingerprint_survives_jitter_and_tells_models_apart():
    generator = np.random.default_rng(3)
    same = 0
    for _ in range(50):
        strong = generator.normal(size=384).astype(np.float32)
        jitter = strong + generator.normal(scale=1e-5, size=384).astype(np.float32)
        same += fingerprint(strong) == fingerprint(jitter)
        assert fingerprint(strong) != fingerprint(-strong)
    assert same >= 48
