"""A small BERT with random weights and a word-level tokenizer, saved to disk as a real model folder."""

from __future__ import annotations

from pathlib import Path

from unembed.corpora.corpus import Corpus
from unembed.encoders.base import Encoder
from unembed.games.base import Deal, Material
from unembed.games.inversion import InversionGame
from unembed.games.threat import ADVERSARIES
from unembed.testing.toys import TOY_WORDS, toy_corpus


def tiny_bert(folder: Path, *, layers: int = 2, width: int = 32) -> str:
    """Special tokens first, then the toy words."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    raw = Tokenizer(models.WordLevel({w: i for i, w in enumerate([*special, *TOY_WORDS])}, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    raw.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(special) + len(TOY_WORDS),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=16,
        pad_token_id=0,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.BertModel(config)
        for name, parameter in model.named_parameters():
            if "LayerNorm" not in name:
                torch.nn.init.normal_(parameter, std=1.0 if "word_embeddings" in name else 0.1)
    model.save_pretrained(folder)
    return str(folder)


def deal_for(
    encoder: Encoder,
    *,
    adversary: str = "weights",
    known: int = 300,
    targets: int = 20,
    inside: Corpus | None = None,
    target: Corpus | None = None,
) -> Deal:
    """The inversion game on these texts, or on the toy corpus, encoded by this encoder."""
    toys = toy_corpus(known + targets, seed=4)
    inside, target = inside or toys.select(range(known)), target or toys.select(range(known, known + targets))
    return InversionGame().deal(
        Material(
            target=target,
            known=inside,
            target_vectors=encoder.encode(target.texts),
            known_vectors=encoder.encode(inside.texts),
            encode=encoder.encode,
            adversary=ADVERSARIES[adversary],
            seed=1,
            encoder=encoder,
        )
    )
