"""The embedding cache: right vectors, each text once, whatever happens in between."""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unembed.encoders.bag_of_words import HashingEncoder
from unembed.encoders.base import EncoderCard
from unembed.encoders.blocks import ENDING, write_block
from unembed.encoders.cache import BLOCK_TEXTS, CachedEncoder, EmbeddingCache, default_cache_folder
from unembed.encoders.callables import CallableEncoder
from unembed.encoders.transformer import TransformerEncoder
from unembed.errors import UnembedError, UnembedWarning

TEXTS = [f"text number {i} " + "long " * (i % 17) for i in range(3 * BLOCK_TEXTS + 100)]


class BatchSensitive:
    """An encoder whose last bits depend on the texts asked together, as real ones' do."""

    def __init__(self, stop_after: int | None = None, digest: str = "v1") -> None:
        self.stop_after = stop_after
        self.seen: list[str] = []
        self.calls = 0
        self.card = EncoderCard("sensitive", "test", digest, 4, False)

    def encode(self, texts, *, role="document"):
        if self.stop_after is not None and self.calls >= self.stop_after:
            raise KeyboardInterrupt
        self.calls += 1
        self.seen += texts
        mixed = sum(len(t) for t in texts) % 97
        rows = [[len(t), len(role), sum(map(ord, t)) % 1013, mixed * 1e-6] for t in texts]
        return np.array(rows, dtype=np.float32)


def blocks(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"vectors/*/*{ENDING}"))


def test_second_time_nothing_is_encoded(tmp_path):
    inner = BatchSensitive()
    cached = CachedEncoder(inner, EmbeddingCache(tmp_path))
    first = cached.encode([*TEXTS, TEXTS[0]])
    assert sorted(inner.seen) == sorted(TEXTS), "each text once, repeated ones too"
    again = BatchSensitive(stop_after=0)
    second = CachedEncoder(again, EmbeddingCache(tmp_path)).encode([*TEXTS, TEXTS[0]])
    assert first.tobytes() == second.tobytes()
    np.testing.assert_array_equal(first[:, 0], [len(t) for t in [*TEXTS, TEXTS[0]]])


@pytest.mark.parametrize("survived", [0, 1, 2, 3])
def test_after_an_interruption_the_rest_gives_the_same_bits(tmp_path, survived):
    undisturbed = CachedEncoder(BatchSensitive(), EmbeddingCache(tmp_path / "a")).encode(TEXTS)
    stopped = BatchSensitive(stop_after=survived)
    with pytest.raises(KeyboardInterrupt):
        CachedEncoder(stopped, EmbeddingCache(tmp_path / "b")).encode(TEXTS)
    rest = BatchSensitive()
    resumed = CachedEncoder(rest, EmbeddingCache(tmp_path / "b")).encode(TEXTS)
    assert resumed.tobytes() == undisturbed.tobytes()
    assert sorted(stopped.seen + rest.seen) == sorted(TEXTS), "no text is encoded twice"


def _slow_encode(folder: Path, texts: list[str]) -> None:
    inner = BatchSensitive()
    plain = inner.encode
    inner.encode = lambda asked, *, role="document": (time.sleep(0.05), plain(asked, role=role))[1]
    CachedEncoder(inner, EmbeddingCache(folder)).encode(texts)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_a_killed_process_leaves_only_whole_blocks(tmp_path):
    process = multiprocessing.get_context("fork").Process(target=_slow_encode, args=(tmp_path, TEXTS))
    process.start()
    for _ in range(400):
        if blocks(tmp_path):
            break
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert blocks(tmp_path)
    left = BatchSensitive()
    resumed = CachedEncoder(left, EmbeddingCache(tmp_path)).encode(TEXTS)
    undisturbed = CachedEncoder(BatchSensitive(), EmbeddingCache(tmp_path / "other")).encode(TEXTS)
    assert resumed.tobytes() == undisturbed.tobytes()


def test_several_processes_at_once(tmp_path):
    context = multiprocessing.get_context("fork")
    parts = [TEXTS[:1200], TEXTS[400:], TEXTS]
    workers = [context.Process(target=_slow_encode, args=(tmp_path, part)) for part in parts]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    found = CachedEncoder(BatchSensitive(stop_after=0), EmbeddingCache(tmp_path)).encode(TEXTS)
    np.testing.assert_allclose(found, BatchSensitive().encode(TEXTS), atol=1e-3)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "longer"])
def test_a_damaged_block_is_dropped_and_computed_again(tmp_path, damage):
    first = CachedEncoder(BatchSensitive(), EmbeddingCache(tmp_path)).encode(TEXTS)
    victim = blocks(tmp_path)[1]
    content = bytearray(victim.read_bytes())
    if damage == "cut":
        content = content[:-5]
    elif damage == "flip":
        content[-9] ^= 1
    elif damage == "empty":
        content = bytearray()
    else:
        content += b"x"
    victim.write_bytes(content)
    inner = BatchSensitive()
    with pytest.warns(UnembedWarning, match="damaged"):
        second = CachedEncoder(inner, EmbeddingCache(tmp_path)).encode(TEXTS)
    assert first.tobytes() == second.tobytes()
    assert 0 < len(inner.seen) <= BLOCK_TEXTS


def test_a_block_that_vanishes_in_use_is_computed_again(tmp_path):
    inner = BatchSensitive()
    cached = CachedEncoder(inner, EmbeddingCache(tmp_path))
    first = cached.encode(TEXTS)
    blocks(tmp_path)[0].unlink()
    assert cached.encode(TEXTS).tobytes() == first.tobytes()


def test_roles_and_digests_do_not_mix(tmp_path):
    cache = EmbeddingCache(tmp_path)
    encoder = BatchSensitive()
    CachedEncoder(encoder, cache).encode(["a"], role="document")
    CachedEncoder(encoder, cache).encode(["a"], role="query")
    CachedEncoder(BatchSensitive(digest="v2"), cache).encode(["a"])
    assert cache.stats().encoders == 3
    assert encoder.calls == 2


def test_what_is_not_cached(tmp_path, caplog):
    cache = EmbeddingCache(tmp_path)
    unknown = CachedEncoder(CallableEncoder(lambda texts: [[float(len(t))] for t in texts]), cache)
    assert unknown.encode(["abc"])[0, 0] == 3
    unknown.encode(["abc"])
    assert caplog.text.count("not cached") == 1
    assert "abc" not in caplog.text
    assert CachedEncoder(HashingEncoder(), cache).encode(["word"]).nnz == 1
    assert cache.stats().blocks == 0


def test_no_text_is_on_the_disk(tmp_path):
    CachedEncoder(BatchSensitive(), EmbeddingCache(tmp_path)).encode(["a private sentence"])
    assert not any(b"private" in p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())


def test_progress_stats_and_clear(tmp_path):
    told = []
    cache = EmbeddingCache(tmp_path)
    encoder = CachedEncoder(BatchSensitive(), cache, progress=lambda done, total: told.append((done, total)))
    encoder.encode(TEXTS)
    assert told[0] == (0, len(TEXTS))
    assert told[-1] == (len(TEXTS), len(TEXTS))
    assert [d for d, _ in told] == sorted(d for d, _ in told)
    stats = cache.stats()
    assert (stats.encoders, stats.blocks) == (1, 4)
    assert stats.bytes > len(TEXTS) * 16
    assert cache.clear(older_than=1000).blocks == 0
    old = blocks(tmp_path)[0]
    os.utime(old, (1, 1))
    assert cache.clear(older_than=1000).blocks == 1
    assert cache.clear().blocks == 3
    assert cache.stats().blocks == 0
    assert cache.clear().blocks == 0


def test_an_unwritable_place_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UnembedError, match="UNEMBED_CACHE"):
        CachedEncoder(BatchSensitive(), EmbeddingCache(tmp_path / "file")).encode(["a"])


def test_a_disk_that_takes_no_more_is_one_clear_error_and_leaves_nothing(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(UnembedError, match="File too large: set UNEMBED_CACHE"):
            write_block(tmp_path, [b"0" * 32], np.zeros((1, 2000), dtype=np.float32))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_default_place(monkeypatch, tmp_path):
    monkeypatch.setenv("UNEMBED_CACHE", str(tmp_path / "here"))
    assert default_cache_folder() == tmp_path / "here"
    monkeypatch.delenv("UNEMBED_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_folder() == tmp_path / "unembed"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    asked=st.lists(
        st.tuples(
            st.fixed_dictionaries(
                {
                    "layer": st.sampled_from([0, 1, -1]),
                    "pooling": st.sampled_from(["mean", "first", "last"]),
                    "dtype": st.sampled_from(["float32", "bfloat16"]),
                    "normalise": st.booleans(),
                }
            ),
            st.sampled_from(["document", "query"]),
            st.lists(st.text(alphabet="abcdt eh", max_size=12), max_size=6),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_cached_equals_direct_whatever_was_asked_before(tiny_model, tmp_path_factory, asked):
    folder = str(tiny_model("bert"))
    cache = EmbeddingCache(tmp_path_factory.mktemp("cache"))
    for options, role, texts in asked:
        encoder = TransformerEncoder(folder, device="cpu", prompts={"query": "the "}, **options)
        found = CachedEncoder(encoder, cache).encode(texts, role=role)
        direct = encoder.encode(texts, role=role)
        tolerance = 1e-5 if options["dtype"] == "float32" else 0.1
        np.testing.assert_allclose(found, direct, atol=tolerance)


def test_changed_weights_give_new_vectors(new_model, tmp_path):
    one, other = new_model("bert", 0, "one"), new_model("bert", 1, "other")
    cache = EmbeddingCache(tmp_path / "cache")
    before = CachedEncoder(TransformerEncoder(str(one), device="cpu"), cache).encode(["the cat"])
    shutil.copy(other / "model.safetensors", one / "model.safetensors")
    after = CachedEncoder(TransformerEncoder(str(one), device="cpu"), cache).encode(["the cat"])
    expected = TransformerEncoder(str(other), device="cpu").encode(["the cat"])
    np.testing.assert_array_equal(after, expected)
    assert not np.allclose(before, after)


def test_the_encoder_inside_can_still_do_the_rest(tiny_model, tmp_path):
    cached = CachedEncoder(TransformerEncoder(str(tiny_model("bert")), device="cpu"), EmbeddingCache(tmp_path))
    assert cached.layer_output(["the cat"], 0).shape == (1, 16)
    assert not hasattr(cached, "fit")
