"""The library measures what the command line measures, to the last bit."""

import csv

import numpy as np
import pytest

import unembed
from unembed.cli.entry import run as command
from unembed.errors import UsageError
from unembed.results.schema import without_times


def figures(run):
    """Everything that was measured; only the names of places differ between a list and a file."""
    found = without_times([f.model_dump(mode="json") for f in run.findings])
    return [{k: v for k, v in f.items() if k != "encoder"} for f in found]


OPTIONS = "--game attribute --attack attribute/linear --adversary insider --curve none --references none --repeats 0"


def by_command(folder, *more):
    assert command(["audit", "--out", str(folder), "--quiet", "--no-calibration", *OPTIONS.split(), *more]) in (0, 3)
    return unembed.load_run(folder)


@pytest.fixture
def table(tmp_path, texts, topics):
    file = tmp_path / "messages.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "topic"])
        writer.writerows(zip(texts, topics, strict=True))
    return file


def test_a_list_gives_the_findings_of_the_same_texts_in_a_csv(tmp_path, table, texts, topics, small):
    there = by_command(tmp_path / "run", "--texts", str(table), "--attribute", "topic", "--encoder", "hashing",
                       "--encoder-option", "features=64", "--max-texts", "200", "--seed", "3")  # fmt: skip
    encoder = {"name": "hashing", "features": 64}
    here = unembed.audit(texts, encoder=encoder, attributes={"topic": topics}, max_texts=200, seed=3, **small)
    assert figures(here) == figures(there)
    assert here.findings[0].status == "leak"


def test_an_array_gives_the_findings_of_the_same_vectors_in_a_file(tmp_path, table, texts, topics, vectors, small):
    np.save(tmp_path / "v.npy", vectors)
    there = by_command(
        tmp_path / "run", "--texts", str(table), "--attribute", "topic", "--vectors", str(tmp_path / "v.npy")
    )
    here = unembed.audit(texts, vectors, attributes={"topic": topics}, **small)
    assert figures(here) == figures(there)


def test_a_path_gives_the_findings_of_the_command_line(tmp_path, table, texts, topics, vectors, small):
    there = by_command(tmp_path / "run", "--texts", str(table), "--attribute", "topic", "--encoder", "hashing",
                       "--encoder-option", "features=64")  # fmt: skip
    here = unembed.audit(table, encoder={"name": "hashing", "features": 64}, attributes="topic", **small)
    assert figures(here) == figures(there)
    mixed = unembed.audit(str(table), vectors, attributes=["topic"], **small)
    assert figures(mixed) == figures(unembed.audit(texts, vectors, attributes={"topic": topics}, **small))


def test_the_default_encoder_gives_the_same_findings(tmp_path, table, texts, topics, small):
    there = by_command(
        tmp_path / "run", "--texts", str(table), "--attribute", "topic", "--max-texts", "60", "--cache", str(tmp_path)
    )
    assert figures(unembed.audit(texts, attributes={"topic": topics}, max_texts=60, **small)) == figures(there)


@pytest.fixture
def chroma(tmp_path, texts, topics, vectors):
    chromadb = pytest.importorskip("chromadb")
    client = chromadb.PersistentClient(str(tmp_path / "chroma"), chromadb.Settings(anonymized_telemetry=False))
    collection = client.create_collection("notes", embedding_function=None)
    rows = [{"topic": topic} for topic in topics]
    collection.add(ids=[f"m{i}" for i in range(len(texts))], documents=texts, embeddings=vectors, metadatas=rows)
    return f"chroma:{tmp_path}/chroma/notes", collection


def test_a_store_gives_the_findings_of_the_command_line_by_address_and_by_client(tmp_path, chroma, small):
    address, collection = chroma
    there = by_command(tmp_path / "run", "--store", address, "--attribute", "topic", "--max-texts", "200")
    assert there.findings[0].status == "leak"
    for place in (address, collection):
        assert figures(unembed.audit(place, attributes="topic", max_texts=200, **small)) == figures(there)


def test_a_collection_is_opened_from_a_store_by_address_and_by_client(chroma, texts, vectors):
    address, collection = chroma
    for place in (address, collection):
        found = unembed.open_collection(place, columns=["topic"])
        assert sorted(found.corpus.texts) == sorted(texts)
        assert found.stored.vectors_for(["m7"])[0].tolist() == vectors[7].tolist()


def test_a_store_has_its_own_vectors_and_columns(chroma, vectors, topics, small):
    for place in chroma:
        with pytest.raises(unembed.UnembedError, match="the vectors are those of the store"):
            unembed.audit(place, vectors, **small)
        with pytest.raises(unembed.UnembedError, match="name columns of it"):
            unembed.audit(place, attributes={"topic": topics}, **small)
    with pytest.raises(unembed.UnembedError, match="an address ends with it"):
        unembed.open_collection(chroma[0], name="notes")


def test_a_store_on_another_machine_is_asked_only_by_whoever_allows_it(small):
    with pytest.raises(unembed.UnembedError, match="allow_remote=True"):
        unembed.audit("qdrant:http://store.example:6333/notes", **small)
    with pytest.raises(unembed.UnembedError, match="allow_remote=True"):
        unembed.open_collection("qdrant:http://store.example:6333/notes")


def test_a_folder_that_is_open_with_other_settings_is_told_in_a_line(tmp_path, small):
    chromadb = pytest.importorskip("chromadb")
    client = chromadb.PersistentClient(str(tmp_path / "other"), chromadb.Settings(allow_reset=True))
    client.create_collection("notes", embedding_function=None)
    with pytest.raises(unembed.UnembedError, match="open in this process with other settings: give the collection"):
        unembed.audit(f"chroma:{tmp_path}/other/notes", **small)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"curve": [0.1]}, "no game that is played has a curve"),
        ({"keyword": {"words": ["flood"]}}, "options for the game 'keyword'"),
        ({"external": {"rows": 50}}, "external text is for an outsider"),
        ({"baseline": "accepted.toml"}, "a baseline accepts what a policy forbids"),
    ],
)
def test_settings_without_effect_are_refused_alike(texts, topics, vectors, small, more, said):
    with pytest.raises(UsageError, match=said):
        unembed.audit(texts, vectors, attributes={"topic": topics}, **{**small, **more})
