"""The same text written a little differently, and the same said in other words, by rules and without a model.

``nearly`` makes one or two small edits: another case, a mark gone or added, a word left out, a typing error. It is what
a copy looks like that somebody typed again.

``reworded`` exchanges words of a short table of English synonyms, contracts or spells out ("do not", "don't"), turns
"a and b" round and moves the clauses of a sentence, or the sentences of a text. It is weaker than what a person or a
language model would write: the sense stays, most words stay, and a text that no rule fits only has its word order
changed. What recognises such a text need not recognise a free paraphrase.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from unembed.corpora.words import is_content_word, word_spans

# fmt: off
_SYNONYMS = (
    ("also", "too"), ("almost", "nearly"), ("although", "though"), ("began", "started"),
    ("begin", "start"), ("big", "large"), ("build", "construct"), ("built", "constructed"), ("buy", "purchase"),
    ("bought", "purchased"), ("children", "kids"), ("choose", "select"), ("chosen", "selected"), ("city", "town"),
    ("collect", "gather"), ("company", "firm"), ("contains", "holds"), ("country", "nation"),
    ("created", "made"), ("died", "passed away"), ("difficult", "hard"), ("doctor", "physician"),
    ("each", "every"), ("early", "initial"), ("easy", "simple"), ("end", "finish"), ("ended", "finished"),
    ("enough", "sufficient"), ("famous", "well-known"), ("fast", "quick"), ("film", "movie"), ("former", "earlier"),
    ("get", "obtain"), ("got", "received"), ("glad", "happy"), ("great", "excellent"), ("help", "assist"),
    ("helped", "assisted"), ("house", "home"), ("however", "nevertheless"), ("huge", "enormous"), ("idea", "notion"),
    ("important", "significant"), ("job", "position"), ("keep", "retain"), ("known", "recognised"),
    ("last", "final"), ("later", "afterwards"), ("launched", "introduced"), ("located", "situated"),
    ("main", "principal"), ("many", "numerous"), ("mostly", "mainly"), ("named", "called"), ("need", "require"),
    ("needs", "requires"), ("often", "frequently"), ("part", "portion"), ("people", "persons"),
    ("picture", "image"), ("problem", "issue"), ("quickly", "rapidly"), ("rich", "wealthy"), ("road", "street"),
    ("said", "stated"), ("says", "states"), ("sent", "mailed"), ("several", "various"), ("shop", "store"),
    ("show", "display"), ("shows", "displays"), ("sick", "ill"), ("small", "little"),
    ("sometimes", "occasionally"), ("soon", "shortly"), ("stopped", "ceased"), ("stop", "cease"),
    ("student", "pupil"), ("students", "pupils"), ("sure", "certain"), ("team", "squad"), ("thus", "hence"),
    ("together", "jointly"), ("try", "attempt"), ("tried", "attempted"), ("use", "employ"), ("used", "employed"),
    ("usually", "normally"), ("very", "highly"), ("want", "wish"), ("whole", "entire"),
    ("work", "labour"), ("wrong", "incorrect"),
)
_SPELLED = (
    ("do not", "don't"), ("does not", "doesn't"), ("did not", "didn't"), ("is not", "isn't"), ("are not", "aren't"),
    ("was not", "wasn't"), ("were not", "weren't"), ("can not", "can't"), ("cannot", "can't"), ("will not", "won't"),
    ("it is", "it's"), ("that is", "that's"), ("I am", "I'm"), ("I have", "I've"), ("they are", "they're"),
    ("we are", "we're"), ("you are", "you're"),
)
# fmt: on
_OTHER = dict(_SYNONYMS) | {b: a for a, b in _SYNONYMS if " " not in b}
_MOST_SYNONYMS = 4
_AND = re.compile(r"\b(\w+) (and|or) (\w+)\b")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)")
_CLAUSE = re.compile(r",\s+")

Edit = Callable[[str, np.random.Generator], str]


def nearly(text: str, rng: np.random.Generator) -> str:
    """One or two small edits, drawn at random; a text without a word stays as it is."""
    wanted, changed = int(rng.integers(1, 3)), text
    done = 0
    for place in rng.permutation(len(_SMALL)):
        edited = _SMALL[int(place)](changed, rng)
        if edited not in (changed, text):
            changed, done = edited, done + 1
        if done == wanted:
            break
    return changed


def _case(text: str, rng: np.random.Generator) -> str:
    """All in lower case, or, where it is already, with a capital."""
    lowered = text.lower()
    return lowered if lowered != text else text[:1].upper() + text[1:]


def _mark(text: str, rng: np.random.Generator) -> str:
    """The last mark gone, or a full stop added."""
    marks = [m.start() for m in re.finditer(r"[.,;:!?]", text)]
    return text[: marks[-1]] + text[marks[-1] + 1 :] if marks else f"{text}."


def _drop(text: str, rng: np.random.Generator) -> str:
    """One word left out, of four or more."""
    spans = word_spans(text)
    if len(spans) < 4:
        return text
    _, start, end = spans[int(rng.integers(len(spans)))]
    return re.sub(r"\s{2,}", " ", text[:start] + text[end:]).strip()


def _typo(text: str, rng: np.random.Generator) -> str:
    """Two letters exchanged, one left out or one doubled, inside a word of four letters or more."""
    spans = [(start, end) for word, start, end in word_spans(text) if len(word) >= 4 and word.isalpha()]
    if not spans:
        return text
    start, end = spans[int(rng.integers(len(spans)))]
    at = int(rng.integers(start + 1, end - 2)) if end - start > 3 else start + 1
    a, b = text[at], text[at + 1]
    made = (b + a, b, a + a + b)[int(rng.integers(3))]
    return text[:at] + made + text[at + 2 :]


_SMALL: tuple[Edit, ...] = (_case, _mark, _drop, _typo)


def reworded(text: str, rng: np.random.Generator) -> str:
    """The same in other words as far as the rules go; see above."""
    changed = _AND.sub(_turned, _spelled(_synonyms(text, rng)))
    moved = _moved(changed, rng)
    if moved == text:
        moved = _rotated(text.split(), rng)
    return moved


def _turned(pair: re.Match[str]) -> str:
    """ "b and a" for "a and b", where both carry meaning."""
    first, joined, second = pair.groups()
    both = is_content_word(first.lower()) and is_content_word(second.lower())
    return f"{second} {joined} {first}" if both else pair.group()


def _synonyms(text: str, rng: np.random.Generator) -> str:
    """Up to four words that the table knows, exchanged."""
    known = [span for span in word_spans(text) if span[0] in _OTHER]
    kept = sorted(rng.permutation(len(known))[:_MOST_SYNONYMS].tolist(), reverse=True)
    for word, start, end in (known[i] for i in kept):
        other = _OTHER[word]
        text = text[:start] + (other[:1].upper() + other[1:] if text[start].isupper() else other) + text[end:]
    return text


def _spelled(text: str) -> str:
    """The first form that can be contracted or spelled out."""
    for long, short in _SPELLED:
        for old, new in ((long, short), (short, long)):
            changed = re.sub(rf"\b{re.escape(old)}\b", new, text, count=1)
            if changed != text:
                return changed
    return text


def _moved(text: str, rng: np.random.Generator) -> str:
    """Sentences in another order; of a single one its clauses."""
    sentences = _SENTENCE.split(text)
    if len(sentences) > 1:
        return _rotated(sentences, rng)
    end = text[-1:] if text[-1:] in ".!?" else ""
    clauses = _CLAUSE.split(text.removesuffix(end))
    if len(clauses) == 1 or min(len(c.split()) for c in clauses) < 2:
        return text
    first = next((w for w, _, _ in word_spans(clauses[0])), "")
    if first and not is_content_word(first):
        clauses[0] = clauses[0][:1].lower() + clauses[0][1:]
    turned = clauses[1:] + clauses[:1] if len(clauses) == 2 else [clauses[-1], *clauses[:-1]]
    joined = ", ".join(turned)
    return joined[:1].upper() + joined[1:] + end


def _rotated(parts: list[str], rng: np.random.Generator) -> str:
    """The parts from another one on; a single part stays."""
    if len(parts) < 2:
        return " ".join(parts)
    start = int(rng.integers(1, len(parts)))
    return " ".join(parts[start:] + parts[:start])
