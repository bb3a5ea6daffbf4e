"""Files of vectors: every format, and every way a file can be wrong."""

from __future__ import annotations

import contextlib
import json
import zipfile

import numpy as np
import pytest

from unembed.encoders import build_encoder
from unembed.encoders.vector_files import open_vectors
from unembed.encoders.vectors import VectorsEncoder
from unembed.errors import CannotMeasureError, DataError, UnembedError, UnknownNameError, UsageError

VECTORS = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)


def write(folder, ending, vectors=VECTORS):
    path = folder / f"vectors{ending}"
    if ending == ".npy":
        np.save(path, vectors)
    elif ending == ".npz":
        np.savez(path, embeddings=vectors, other=np.arange(3))
    elif ending == ".safetensors":
        from safetensors.numpy import save_file

        save_file({"embeddings": np.ascontiguousarray(vectors)}, path)
    elif ending == ".parquet":
        import pyarrow as pa
        from pyarrow import parquet

        ids = pa.array(range(len(vectors)))
        parquet.write_table(pa.table({"id": ids, "embedding": pa.array(vectors.tolist())}), path)
    elif ending in (".csv", ".tsv"):
        separator = "," if ending == ".csv" else "\t"
        lines = [separator.join("xyz")] + [separator.join(map(repr, row)) for row in vectors.tolist()]
        path.write_text("\n".join(lines))
    elif ending == ".jsonl":
        path.write_text("\n".join(json.dumps({"id": i, "v": r}) for i, r in enumerate(vectors.tolist())))
    return path


ENDINGS = [".npy", ".npz", ".safetensors", ".parquet", ".csv", ".tsv", ".jsonl"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_gives_the_same_vectors(tmp_path, ending):
    table = open_vectors(write(tmp_path, ending))
    assert table.shape == (7, 3)
    np.testing.assert_array_equal(table[2:5], VECTORS[2:5])
    np.testing.assert_array_equal(table[[6, 0]], VECTORS[[6, 0]])
    np.testing.assert_array_equal(np.concatenate(list(table.batches(3))), VECTORS)
    assert np.asarray(table).dtype == np.float32


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_cut_short_is_an_error_or_fewer_rows_but_never_garbage(tmp_path, ending):
    path = write(tmp_path, ending)
    whole = path.read_bytes()
    for kept in range(0, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:kept])
        try:
            found = np.asarray(open_vectors(path))
        except UnembedError:
            continue
        assert ending in (".csv", ".tsv", ".jsonl"), "binary formats notice a missing byte"
        assert len(found) <= 7


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_name_their_row(tmp_path, ending, bad):
    vectors = VECTORS.copy()
    vectors[4, 1] = bad
    table = open_vectors(write(tmp_path, ending, vectors))
    np.testing.assert_array_equal(table[:4], VECTORS[:4])
    with pytest.raises(DataError, match="row 4"):
        _ = table[:]
    with pytest.raises(DataError, match="row 4"):
        _ = table[[1, 4]]


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.int64, ">f4"])
def test_other_number_types_become_float32_on_reading(tmp_path, dtype):
    values = np.arange(6).reshape(2, 3).astype(dtype)
    table = open_vectors(write(tmp_path, ".npy", values))
    assert table[:].dtype == np.float32
    np.testing.assert_array_equal(table[:], values.astype(np.float32))


def test_bfloat16_safetensors(tmp_path):
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    tensor = torch.tensor([[1.5, -2.25], [3.0, 0.1]], dtype=torch.bfloat16)
    save_file({"x": tensor}, tmp_path / "x.safetensors")
    np.testing.assert_array_equal(open_vectors(tmp_path / "x.safetensors")[:], tensor.float().numpy())


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3), "shape"),
        (np.zeros((2, 2, 2)), "shape"),
        (np.zeros((0, 3)), "no vectors"),
        (np.zeros((3, 0)), "no vectors"),
        (np.array([["a"]]), "real numbers"),
        (np.array([[True]]), "real numbers"),
        (np.array([[1j]]), "real numbers"),
    ],
)
def test_arrays_that_are_no_vectors(tmp_path, array, message):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(DataError, match=message):
        open_vectors(tmp_path / "x.npy")


def test_pickled_arrays_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="pickled"):
        open_vectors(tmp_path / "x.npy")
    np.savez(tmp_path / "x.npz", vectors=np.array([[{}]], dtype=object))
    with pytest.raises(DataError, match="pickled"):
        open_vectors(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", "[1, 2]\n[1, 2, 3]\n", "row 1: 3 dimensions where row 0 has 2"),
        ("x.jsonl", "[1, 2]\n{oops\n", "line 2: not valid JSON"),
        ("x.jsonl", '[1, "a"]\n', "line 1: expected a list of numbers"),
        ("x.jsonl", '{"a": [1], "b": [2]}\n', "say which with column"),
        ("x.csv", "1,2\n3,x\n", "line 2, column 2: not a number"),
        ("x.csv", "1,2\n3\n", "row 1: 1 dimensions"),
        ("x.csv", "a,b\n", "no vectors"),
        ("x.npy", "", "is empty"),
        ("x.npy", "hello", "not a complete .npy"),
    ],
)
def test_text_files_that_are_wrong_say_where(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        open_vectors(tmp_path / name)


def test_parquet_problems_name_column_and_row(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"v": pa.array([[1.0, 2.0], None]), "t": pa.array(["a", "b"])}), path)
    with pytest.raises(DataError, match="row 1: no vector"):
        open_vectors(path)
    with pytest.raises(DataError, match="expected lists of numbers"):
        open_vectors(path, column="t")
    with pytest.raises(UnknownNameError):
        open_vectors(path, column="w")
    parquet.write_table(pa.table({"v": pa.array([[1.0, 2.0], [None, 1.0]])}), path)
    with pytest.raises(DataError, match="row 1: a number is missing"):
        open_vectors(path)
    parquet.write_table(pa.table({"v": pa.array([[1.0, 2.0], [1.0]])}), path)
    with pytest.raises(DataError, match="row 1: 1 dimensions"):
        open_vectors(path)
    fixed = pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2.0, 3.0, 4.0], pa.float32()), 2)
    parquet.write_table(pa.table({"v": fixed}), path)
    np.testing.assert_array_equal(open_vectors(path)[:], [[1, 2], [3, 4]])


@pytest.mark.parametrize("rows", [1, 4000])
def test_a_small_parquet_file_that_expands_hugely_is_refused_before_it_is_read(tmp_path, rows):
    import pyarrow as pa
    from pyarrow import parquet

    path, numbers = tmp_path / "bomb.parquet", 20_000_000
    zeros = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(numbers, np.float32)), numbers // rows)
    parquet.write_table(pa.table({"v": zeros.cast(pa.list_(pa.float32()))}), path, compression="zstd")
    assert path.stat().st_size < 100_000
    watched, usual = pa.proxy_memory_pool(pa.default_memory_pool()), pa.default_memory_pool()
    pa.set_memory_pool(watched)
    try:
        with pytest.raises(DataError, match=r"expands to more than 64 MiB: not unpacked; save it as \.npy$"):
            open_vectors(path)
    finally:
        pa.set_memory_pool(usual)
    assert watched.max_memory() < 8 << 20


def test_vectors_of_several_row_groups_and_batches_keep_their_order(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    vectors = np.arange(9000, dtype=np.float32).reshape(3000, 3)
    parquet.write_table(pa.table({"v": pa.array(vectors.tolist())}), tmp_path / "x.parquet", row_group_size=1700)
    np.testing.assert_array_equal(open_vectors(tmp_path / "x.parquet")[:], vectors)


def test_unknown_ending_and_missing_file(tmp_path):
    (tmp_path / "x.pkl").write_bytes(b"x")
    with pytest.raises(UnknownNameError, match="ending"):
        open_vectors(tmp_path / "x.pkl")
    with pytest.raises(UsageError, match="no file of vectors at"):
        open_vectors(tmp_path / "y.npy")


def test_a_large_file_is_mapped_not_loaded(tmp_path):
    path = tmp_path / "large.npy"
    np.lib.format.open_memmap(path, "w+", np.float16, (1_000_000, 384)).flush()
    table = open_vectors(path)
    assert isinstance(table.stored, np.memmap)
    assert table[999_990:].shape == (10, 384)


TEXTS = [f"text {i}" for i in range(7)]


def test_vectors_answer_for_their_texts_only(tmp_path):
    encoder = build_encoder(f"vectors:{write(tmp_path, '.npy')}", fit_texts=TEXTS)
    np.testing.assert_array_equal(encoder.encode(["text 5", "text 0", "text 5"]), VECTORS[[5, 0, 5]])
    np.testing.assert_array_equal(encoder.vectors_for_rows([2]), VECTORS[[2]])
    with pytest.raises(CannotMeasureError, match="come without the encoder") as caught:
        encoder.encode(["text 1", "a secret sentence"])
    assert "secret" not in str(caught.value)
    assert "row 1" in str(caught.value)
    assert encoder.card.dimension == 3
    assert not encoder.card.normalised


def test_the_number_of_texts_must_be_that_of_the_vectors():
    with pytest.raises(DataError, match="7 vectors for 6 texts"):
        VectorsEncoder(VECTORS).fit(TEXTS[:6])


def test_a_repeated_text_must_have_one_vector():
    texts = [*TEXTS[:6], "text 2"]
    with pytest.raises(DataError, match="rows 2 and 6"):
        VectorsEncoder(VECTORS).fit(texts)
    same = VECTORS.copy()
    same[6] = same[2] * 1.0001
    assert VectorsEncoder(same).fit(texts).encode(["text 2"]).shape == (1, 3)


def test_digest_follows_the_content(tmp_path):
    path = write(tmp_path, ".npy")
    first = VectorsEncoder(str(path)).card.digest
    np.save(path, VECTORS + 1)
    assert VectorsEncoder(str(path)).card.digest != first
    assert VectorsEncoder(VECTORS).card.digest != VectorsEncoder(VECTORS + 1).card.digest


def put_safetensors(folder, entry):
    header = json.dumps({"vectors": {"dtype": "F32", "shape": [7, 3], "data_offsets": [0, 84], **entry}}).encode()
    path = folder / "x.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + VECTORS.tobytes())
    return path


@pytest.mark.parametrize(
    "entry",
    [
        {"data_offsets": [-84, 0]},  # would read the header as values
        {"data_offsets": [4, 88]},
        {"data_offsets": [0, 80]},
        {"data_offsets": [84, 0]},
        {"data_offsets": [0.0, 84.0]},
        {"data_offsets": [0]},
        {"data_offsets": None},
        {"shape": [-7, -3]},
        {"shape": [7, 2]},
        {"shape": ["7", "3"]},
        {"shape": [10**30, 10**30]},
        {"shape": [True, 21]},
        {"shape": 21},
    ],
)
def test_a_safetensors_header_that_does_not_fit_its_file_is_refused(tmp_path, entry):
    np.testing.assert_array_equal(open_vectors(put_safetensors(tmp_path, {}))[:], VECTORS)
    with pytest.raises(DataError, match=r"not a complete \.safetensors"):
        open_vectors(put_safetensors(tmp_path, entry))


@pytest.mark.parametrize("header", [b"[" * 100_000, b'{"a": ' + b"1" * 5_000 + b"}", b"[]", b"3", b"\xff"])
def test_odd_safetensors_headers(tmp_path, header):
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(DataError, match="not a complete"):
        open_vectors(path)


def numpy_header(shape, kind="<f4", order="False"):
    text = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "shape", ["(10**9, 3)", f"({10**30}, 3)", "(8, 3)", "(-7, -3)", "(7, 3", "-" * 4_000 + "1", "[" * 150, "'x'"]
)
def test_a_numpy_header_that_does_not_fit_its_file_is_refused(tmp_path, shape):
    content = numpy_header(shape) + VECTORS.tobytes()
    (tmp_path / "x.npy").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("vectors.npy", content)
    for name in ("x.npy", "x.npz"):
        with pytest.raises(DataError, match="not a complete"):
            open_vectors(tmp_path / name)


@pytest.mark.parametrize("order", ["C", "F"])
def test_both_orders_of_an_array_are_read(tmp_path, order):
    np.save(tmp_path / "x.npy", np.asarray(VECTORS, order=order))
    np.savez_compressed(tmp_path / "x.npz", vectors=np.asarray(VECTORS, order=order))
    for name in ("x.npy", "x.npz"):
        np.testing.assert_array_equal(open_vectors(tmp_path / name)[:], VECTORS)


def test_an_archive_that_would_expand_too_far_is_not_expanded(tmp_path):
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("vectors.npy", "w") as member:
        member.write(numpy_header((20_000, 1_000)))
        for _ in range(80):
            member.write(bytes(1_000_000))
    with pytest.raises(DataError, match="expands to more than 64 MiB"):
        open_vectors(path)


def test_a_damaged_archive_is_an_error_or_still_readable(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", vectors=VECTORS)
    whole = (tmp_path / "x.npz").read_bytes()
    for place in range(len(whole)):
        for value in (0, 255, whole[place] ^ 1):
            (tmp_path / "y.npz").write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
            with contextlib.suppress(UnembedError):
                open_vectors(tmp_path / "y.npz")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1, 2]\n[3, " + "1" * 400 + "]\n", "line 2: a number is too large"),
        ("[1, 2]\n[3, " + "1" * 5_000 + "]\n", "line 2: not valid JSON"),
        ("[1, 2]\n" + "[" * 100_000 + "\n", "line 2: not valid JSON"),
        ("[1, true]\n", "line 1: expected a list of numbers"),
    ],
)
def test_odd_numbers_name_their_line(tmp_path, content, message):
    (tmp_path / "x.jsonl").write_text(content)
    with pytest.raises(DataError, match=message):
        open_vectors(tmp_path / "x.jsonl")


def test_a_vector_too_long_to_measure_with_is_not_called_nan(tmp_path):
    vectors = VECTORS.copy()
    vectors[4, 1] = 1e19
    for source in (write(tmp_path, ".npy", vectors), vectors):
        with pytest.raises(DataError, match="row 4: the vector is longer than") as caught:
            _ = VectorsEncoder(source if isinstance(source, np.ndarray) else str(source)).card
        assert "NaN" not in str(caught.value)
    vectors[4, 1] = 1e14
    assert VectorsEncoder(vectors).card.dimension == 3
