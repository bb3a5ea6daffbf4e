"""Every encoder family passes the public conformance suite."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from use_lite_maker import write_model

from unembed.encoders import ENCODERS, build_encoder
from unembed.encoders.cache import CachedEncoder, EmbeddingCache
from unembed.testing import check_encoder
from unembed.testing.toys import LeakyEncoder

TEXTS = ["red house by the sea", "a blue castle", "red house by the sea", "green"]


class Embeddings(BaseHTTPRequestHandler):
    """An endpoint that answers with the leaky encoder's vectors."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        vectors = LeakyEncoder(dimension=16).encode(asked["input"]).tolist()
        data = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
        body = json.dumps({"object": "list", "model": asked["model"], "data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def endpoint():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def build(name, tmp_path, tiny_model, endpoint):
    """One small encoder of the family."""
    if name in ("tfidf", "hashing"):
        return build_encoder(name, {}, fit_texts=TEXTS)
    if name == "lsa":
        return build_encoder(name, {"components": 2}, fit_texts=TEXTS)
    if name in ("doc2vec", "word2vec", "fasttext", "glove"):
        options = {"dimension": 4, "min_count": 1}
        if name == "doc2vec":
            options["sample"] = 0.0
        if name == "fasttext":
            options["buckets"] = 200
        return build_encoder(name, options, fit_texts=TEXTS)
    if name == "use-lite":
        write_model(tmp_path / "use")
        return build_encoder(name, {"model": str(tmp_path / "use")})
    if name == "transformer":
        return build_encoder(name, {"model": str(tiny_model("bert")), "pooling": "first", "layer": 1})
    if name == "sentence-transformer":
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

        body = Transformer(str(tiny_model("bert")))
        SentenceTransformer(modules=[body, Pooling(body.get_embedding_dimension())]).save(str(tmp_path / "st"))
        return build_encoder(name, {"model": str(tmp_path / "st")})
    if name == "callable":
        return build_encoder(name, {"function": LeakyEncoder().encode, "version": "1"})
    if name == "vectors":
        np.save(tmp_path / "v.npy", LeakyEncoder().encode(TEXTS))
        return build_encoder(name, {"vectors": str(tmp_path / "v.npy")}, fit_texts=TEXTS)
    if name == "endpoint":
        return build_encoder(name, {"base_url": endpoint, "model": "leaky"})
    return build_encoder(name, {})


@pytest.mark.parametrize("name", ENCODERS.names())
def test_family_conforms(name, tmp_path, tiny_model, endpoint):
    made = build(name, tmp_path, tiny_model, endpoint)
    check_encoder(made, TEXTS)
    if not made.card.sparse:
        check_encoder(CachedEncoder(made, EmbeddingCache(tmp_path / "cache")), TEXTS)
