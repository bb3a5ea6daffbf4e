"""The endpoint encoder against a real HTTP server on loopback that misbehaves in every way we know."""

from __future__ import annotations

import base64
import email.utils
import gzip
import json
import logging
import threading
import time
import tracemalloc
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from unembed.encoders import build_encoder
from unembed.encoders.cache import CachedEncoder, EmbeddingCache
from unembed.encoders.endpoint import FINGERPRINT_SENTENCE, EndpointEncoder, fingerprint
from unembed.encoders.endpoint_answers import most_bytes, retry_after
from unembed.errors import CannotMeasureError, DataError, RemoteNotAllowedError, UnembedError, UsageError

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
        self.running = self.most = self.sent = 0
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
        """``body`` is data, bytes, or an iterator of bytes whose length nobody is told."""
        raw = body if isinstance(body, bytes) or hasattr(body, "__next__") else json.dumps(body).encode()
        self.close_connection = True
        self.send_response(status)
        length = {"content-length": str(len(raw))} if isinstance(raw, bytes) else {}
        for name, value in (length | headers).items():
            self.send_header(name, value)
        self.end_headers()
        for part in [raw] if isinstance(raw, bytes) else raw:
            self.wfile.write(part)
            self.server.sent += len(part)


@pytest.fixture
def server():
    running = Server()
    threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
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
    found = encoder(server, batch_size=3, max_concurrency=3).encode(TEXTS)
    np.testing.assert_array_equal(found, EXPECTED)
    assert max(map(len, server.requests)) == 3
    assert 1 < server.most <= 3
    assert encoder(server).encode([]).shape == (0, DIMENSION)


def test_token_limit_splits_batches(server):
    encoder(server, batch_tokens=6 + 11).encode(TEXTS)
    assert max(map(len, server.requests)) == 2 + 1


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
    with pytest.raises(CannotMeasureError, match=r"no whole answer within 0\.3 s.*run the same again"):
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
        (lambda texts: {**good(texts), "data": good(texts)["data"][1:]}, "10 vectors for 11 texts"),
        (lambda texts: {**good(texts), "data": [good(texts)["data"][0]] * 11}, "'index' fields"),
        (changed(data=None), "no list 'data'"),
        (lambda texts: [], "no list 'data'"),
        (changed(data=[{}] * 11), "without 'embedding'"),
        (changed(model="tiny-2"), "changed its model"),
        (with_embedding([1.0, 2.0]), "different lengths"),
        (with_embedding([float("nan")] * DIMENSION), "NaN"),
        (with_embedding(["a"] * DIMENSION), "real numbers"),
        (with_embedding(None), "real numbers"),
        (with_embedding([True] + [0.5] * (DIMENSION - 1)), "real numbers"),
        (with_embedding([10**400] + [0.5] * (DIMENSION - 1)), "real numbers"),
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


def in_another_order(texts):
    order = np.random.default_rng(len(texts)).permutation(len(texts))
    return [vector(texts[i]) for i in order]


def less_their_mean(texts):
    found = np.array([vector(t) for t in texts])
    return (found - found.mean(axis=0)).tolist()


def several_models(texts):
    return [vector(t[::-1]) for t in texts]


def jittered(texts):
    return [(np.array(vector(t)) * 1.01).tolist() for t in texts]


def answering(vectors):
    return lambda number, texts: (
        200,
        {},
        {"model": "tiny-1", "data": [{"index": i, "embedding": v} for i, v in enumerate(vectors(texts))]},
    )


@pytest.mark.parametrize("wrong", [in_another_order, less_their_mean, several_models])
def test_a_server_that_mixes_up_texts_and_vectors_is_not_believed(server, wrong):
    """Every index is plausible; only a text whose vector is known shows that something is wrong."""
    server.script = answering(wrong)
    with pytest.raises(CannotMeasureError, match="another order"):
        encoder(server).encode(TEXTS)


def test_one_request_of_many_in_another_order_is_enough(server):
    server.script = lambda number, texts: answering(in_another_order)(number, texts) if number == 3 else None
    with pytest.raises(CannotMeasureError, match="another order"):
        encoder(server, batch_size=4, max_concurrency=1).encode([f"text {i}" for i in range(30)])


def test_the_last_digits_may_depend_on_the_batch(server):
    server.script = answering(jittered)
    np.testing.assert_allclose(encoder(server).encode(TEXTS), EXPECTED * 1.01, rtol=1e-6)


def test_an_answer_that_trickles_in_is_given_up_as_a_whole(server):
    """Each byte comes in time; the answer would be right if somebody waited for all of it."""

    def slowly(raw):
        for i in range(0, len(raw), 40):
            time.sleep(0.05)
            yield raw[i : i + 40]

    server.script = lambda number, texts: (200, {}, slowly(json.dumps(good(texts)).encode()))
    with pytest.raises(CannotMeasureError, match=r"no whole answer within 0\.5 s"):
        encoder(server, timeout=0.5, retries=0).encode(TEXTS)


def test_headers_that_trickle_in_are_given_up_too(server):
    class SlowHeaders(Handler):
        def end_headers(self):
            for i in range(40):
                time.sleep(0.05)
                self.send_header(f"x-{i}", "y")
                self.flush_headers()
            super().end_headers()

    made = encoder(server, timeout=0.5, retries=0)
    _ = made.card
    server.RequestHandlerClass = SlowHeaders
    with pytest.raises(CannotMeasureError, match=r"no whole answer within 0\.5 s"):
        made.encode(TEXTS)


MIB = 1 << 20


def test_a_body_without_end_is_not_read_to_its_end(server):
    server.script = lambda number, texts: (200, {}, (b" " * MIB for _ in range(400)))
    with pytest.raises(CannotMeasureError, match="larger than"):
        encoder(server, timeout=60.0).encode(TEXTS)
    while server.running:
        time.sleep(0.01)
    assert server.sent < 32 * MIB


def test_a_first_answer_with_a_huge_vector_raises_no_limit():
    assert most_bytes(10, 10**6) == most_bytes(10, None) == 11 * MIB


@pytest.mark.parametrize("layers", [1, 2])
def test_a_bomb_is_not_unpacked(server, layers):
    bomb = b" " * (300 * MIB)
    for _ in range(layers):
        bomb = gzip.compress(bomb, 6)
    assert len(bomb) < MIB
    coding = ", ".join(["gzip"] * layers)
    server.script = lambda number, texts: (200, {"content-encoding": coding}, bomb)
    made = encoder(server, timeout=60.0, retries=0)
    _ = made.card
    tracemalloc.start()
    try:
        with pytest.raises(CannotMeasureError, match=r"larger than|decompressed"):
            made.encode(TEXTS)
        assert tracemalloc.get_traced_memory()[1] < 32 * MIB
    finally:
        tracemalloc.stop()


def test_compressed_answers_are_read(server):
    server.script = lambda number, texts: (
        200,
        {"content-encoding": "gzip"},
        gzip.compress(json.dumps(good(texts)).encode()),
    )
    np.testing.assert_array_equal(encoder(server).encode(TEXTS), EXPECTED)
    assert server.headers[-1]["accept-encoding"] == "gzip"


@pytest.mark.parametrize(
    "answer",
    [
        (200, {"content-encoding": "gzip"}, b"not gzip"),
        (200, {"content-encoding": "br"}, b"{}"),
        (200, {}, b"[" * 100_000),
        (200, {}, b"1" * 5_000),
        (200, {}, b"\xff\xfe\xff"),
        (302, {"location": "http://xn--/v1"}, {}),
        (302, {"location": "http://[::1/v1"}, {}),
    ],
    ids=["no gzip", "brotli", "deep", "long number", "no text", "punycode redirect", "bad redirect"],
)
def test_answers_nobody_can_read_are_one_error(server, answer):
    server.script = lambda number, texts: answer
    with pytest.raises(UnembedError, match=r"failed 1 times|no list 'data'"):
        encoder(server, retries=0).encode(TEXTS)


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
    with pytest.raises(UsageError, match="not hold a usable key") as caught:
        encoder(server).encode(TEXTS)
    assert "lines" not in str(caught.value)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(UsageError, match="unencrypted"):
        EndpointEncoder("http://far.example/v1", model="m", allow_remote=True).encode(["a"])


@pytest.mark.parametrize(
    "url",
    [
        *("far.example", "ftp://x/v1", "https://user:pw@x/v1", "https://x/v1?key=1", "https://x/v1?", "http:///v1"),
        *("http://localhost:99999/v1", "http://localhost:0/v1", "http://localhost:-1/v1", "http://localhost:abc/v1"),
        *("http://xn--/v1", "http://xn--a.example/v1", "http://[::1/v1", "http://a..b/v1", f"http://{'a' * 64}/v1"),
        *("http://a\x00b/v1", f"http://localhost/{'a' * 70_000}"),
    ],
)
def test_addresses_that_can_not_be_right_are_one_error(url):
    with pytest.raises(UsageError, match="base_url") as caught:
        EndpointEncoder(url, model="m", allow_remote=True).encode(["a"])
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    "setting",
    [
        *({"timeout": float("nan")}, {"timeout": float("inf")}, {"timeout": 1e300}, {"timeout": 0}, {"batch_size": 0}),
        *({"max_wait": -1}, {"max_wait": 1e300}, {"retries": 5000}, {"retries": -1}, {"max_concurrency": 0}),
    ],
    ids=str,
)
def test_settings_that_can_not_work_are_one_error(server, setting):
    with pytest.raises(UsageError, match="must be positive"):
        encoder(server, **setting).encode(TEXTS)


def test_a_proxy_that_can_not_be_used_is_one_error(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "gopher://proxy.invalid")
    with pytest.raises(UsageError, match="proxy"):
        EndpointEncoder("https://models.invalid/v1", model="m", allow_remote=True).encode(["a"])


@pytest.mark.parametrize("typed", [KEY, "AKIAIOSFODNN7EXAMPLE", "0123456789abcdef"])
def test_a_key_in_the_place_of_a_variable_is_refused_and_not_repeated(server, typed):
    made = encoder(server, api_key_env=typed)
    for use in (made.check, lambda: made.card, lambda: made.encode(TEXTS)):
        with pytest.raises(UsageError, match="put the key into one and give its name") as caught:
            use()
        assert typed not in str(caught.value)
    assert not server.headers


@pytest.mark.parametrize("name", ["api_key", "key", "OPENAI_API_KEY", "apikey", "auth-token"])
def test_a_key_as_an_option_is_refused_and_not_repeated(server, name):
    with pytest.raises(UsageError, match="put the key into an environment variable and name the variable") as caught:
        build_encoder(f"endpoint:{server.url}", {"model": "tiny", name: KEY})
    assert KEY not in str(caught.value)


def test_a_variable_of_ones_own_and_none(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    monkeypatch.setenv("embeddings_key", KEY)
    encoder(server, api_key_env="embeddings_key").encode(TEXTS)
    assert server.headers[-1]["authorization"] == f"Bearer {KEY}"
    encoder(server, api_key_env="").encode(TEXTS)
    assert "authorization" not in server.headers[-1]


@pytest.mark.parametrize("url", ["https://api.example/v1", "http://10.0.0.4/v1", "http://127.0.0.1.example/v1"])
def test_nothing_leaves_the_machine_unless_allowed(url):
    with pytest.raises(RemoteNotAllowedError, match="--allow-remote"):
        EndpointEncoder(url, model="m").encode(["a"])


def test_a_proxy_of_the_environment_gets_no_loopback_traffic(server, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    np.testing.assert_array_equal(encoder(server).encode(TEXTS), EXPECTED)


def test_the_cap_on_requests(server):
    with pytest.raises(UsageError, match="5 more requests are needed after 1"):
        encoder(server, max_requests=5, batch_size=3).encode(TEXTS)
    assert not server.requests
    server.script = lambda number, texts: (500, {}, {})
    with pytest.raises(UsageError, match="used up"):
        encoder(server, max_requests=3).encode(TEXTS)
    assert len(server.requests) == 2


def test_estimate_sends_nothing(server):
    estimate = encoder(server, batch_size=5, price_per_million_tokens=2.0).estimate(TEXTS, TEXTS[:1])
    assert estimate.requests == 1 + 3 + 1
    assert estimate.tokens == 11 + (30 + 3 * 11) + 3
    assert estimate.cost == pytest.approx(estimate.tokens * 2e-6)
    assert not server.headers


def test_as_many_requests_and_texts_as_estimated(server):
    made = encoder(server, batch_size=5)
    expected = made.estimate(TEXTS, TEXTS[:1])
    made.encode(TEXTS)
    made.encode(TEXTS[:1])
    assert len(server.payloads) == expected.requests
    assert sum((len(t) + 3) // 4 for payload in server.payloads for t in payload["input"]) == expected.tokens


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


def test_a_currency_changes_neither_the_card_nor_the_vectors(server):
    plain, priced = encoder(server), encoder(server, price_per_million_tokens=0.02, currency="EUR")
    assert priced.card == plain.card
    assert priced.card.cache_key("document") == plain.card.cache_key("document") is not None
    np.testing.assert_array_equal(priced.encode(TEXTS), plain.encode(TEXTS))
