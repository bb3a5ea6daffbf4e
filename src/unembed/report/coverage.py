"""How much of the texts the encoder read, in a sentence, and what to do about the rest."""

from __future__ import annotations

from unembed.report.numbers import count
from unembed.results.schema import Coverage, Run

#: The sides that are the user's own texts.
_OWN = ("target", "adversary")
#: Words of a chunk for each token of the limit: a word has some one and a half tokens.
_WORDS_PER_TOKEN = 0.6
_LARGEST_CHUNK = 300


def unit(run: Run) -> str:
    """What was encoded: texts, or chunks of them."""
    return "chunk" if run.spec.get("data", {}).get("chunk") else "text"


def sentence(run: Run) -> str | None:
    """What the encoder reads of a text, and how many texts are longer; None where it reads texts of any length."""
    read = _own(run)
    if read is None:
        return None
    what = unit(run)
    longer = f"{count(read.longer)} of {count(read.texts)} {what}s ({_share(read.longer, read.texts)})"
    if read.limit is None:
        if not read.longer:
            return None
        have = "has" if read.longer == 1 else "have"
        return f"How much of a {what} the encoder reads is not known. {longer} {have} more than 200 words."
    limit = f"The encoder reads the {read.kept} {count(read.limit)} tokens of a {what}"
    if not read.longer:
        return f"{limit}; none of the {count(read.texts)} {what}s is longer."
    unread = _share(read.unread or 0, read.tokens or 0)
    return f"{limit}. {longer} {'is' if read.longer == 1 else 'are'} longer; {unread} of all tokens were never seen."


def advice(run: Run) -> str | None:
    """What to do where texts were cut; None where none was."""
    read = _own(run)
    if read is None or read.limit is None or not read.longer:
        return None
    if unit(run) == "chunk":
        return "A smaller --chunk would let it read them whole."
    size = min(_LARGEST_CHUNK, max(10, int(read.limit * _WORDS_PER_TOKEN) // 10 * 10))
    return f"--chunk {size} splits them as a retrieval system would."


def _own(run: Run) -> Coverage | None:
    """Both sides of the collection together."""
    found = [card.coverage for card in run.data if card.role in _OWN and card.coverage is not None]
    if not found:
        return None
    return found[0].model_copy(
        update={name: sum(getattr(c, name) or 0 for c in found) for name in ("texts", "longer", "tokens", "unread")}
    )


def _share(part: int, whole: int) -> str:
    share = part / max(whole, 1)
    if 0 < share < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.99 < share < 1 else f"{share:.0%}".replace("%", " %")
