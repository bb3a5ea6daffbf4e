"""Tiny transformers with random weights and a word-level tokenizer, saved to disk as real model folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from word_worlds import WORDS


def _tokenizer(folder: Path, *, bert: bool, pad: bool) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "</s>", "<unk>", "<pad>"]
    vocabulary = {word: i for i, word in enumerate(special + WORDS)}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    if bert:
        raw.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
        )
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    if pad:
        names["pad_token"] = "<pad>"
    PreTrainedTokenizerFast(tokenizer_object=raw, **names).save_pretrained(folder)


def build_model(folder: Path, kind: str, seed: int = 0) -> Path:
    import torch
    import transformers as tf

    size = len(WORDS) + 4
    small = {"vocab_size": size, "pad_token_id": 3, "bos_token_id": 0, "eos_token_id": 1}
    body = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 24}
    configs = {
        "bert": lambda: tf.BertConfig(**small, **body, max_position_embeddings=32),
        "roberta": lambda: tf.RobertaConfig(**small, **body, max_position_embeddings=36, type_vocab_size=1),
        "albert": lambda: tf.AlbertConfig(**small, **body, embedding_size=8, max_position_embeddings=32),
        "gpt2": lambda: tf.GPT2Config(
            vocab_size=size, n_positions=32, n_embd=16, n_layer=3, n_head=2, bos_token_id=0, eos_token_id=1
        ),
        "t5": lambda: tf.T5Config(
            **small, d_model=16, d_kv=8, d_ff=24, num_layers=3, num_heads=2, decoder_start_token_id=3
        ),
        "xlnet": lambda: tf.XLNetConfig(**small, d_model=16, n_layer=3, n_head=2, d_inner=24),
    }
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = tf.AutoModel.from_config(configs[kind]())
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    _tokenizer(folder, bert=kind not in ("gpt2",), pad=kind != "gpt2")
    return folder


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """``tiny_model(kind)``: the folder of a random model, made once a session."""
    made: dict[str, Path] = {}

    def make(kind: str) -> Path:
        if kind not in made:
            made[kind] = build_model(tmp_path_factory.mktemp(kind), kind)
        return made[kind]

    return make


@pytest.fixture
def new_model(tmp_path):
    """``new_model(kind, seed)``: a folder of its own, to be changed by the test."""
    return lambda kind, seed=0, name="model": build_model(tmp_path / name, kind, seed)
