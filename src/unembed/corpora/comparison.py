"""Texts as they are compared: what a reader would take for the same text becomes the same string.

Only for the search for duplicates; no encoder and no attack sees the result. Mark-up and transfer encoding are undone,
invisible characters are taken out, and letters that look alike become one letter.
"""

from __future__ import annotations

import html
import quopri
import re
import unicodedata

from unembed.corpora.words import words

#: A letter and the Latin one it looks like, once case is folded. A letter whose capital alone looks Latin stands here
#: too: "В" must remain the capital of "в".
_LOOK_ALIKES = """
    аa вb сc ԁd еe ғf ԍg һh нh іi јj кk ӏl мm оo рp ԛq гr ѕs тt уy үy ѵv ԝw хx
    αa βb γy εe ζz ηh ιi κk μm νv οo ρp τt υu χx ωw
    օo սu ոn հh ցg զq յj
    ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz
    ıi ȷj ɑa ɡg ɩi øo łl đd ħh ŧt ƀb ɨi ɵo ʉu
    ’' ‘' ‛' ʼ' ʹ' ′' `' ´'
"""
_SAME = {ord(pair[0]): pair[1] for pair in _LOOK_ALIKES.split()}
# Accents, and the points of Hebrew and Arabic, which are mostly left out in writing. Vowel signs of other scripts stay.
_OPTIONAL_MARKS = re.compile(r"[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u1ab0-\u1aff\u20d0-\u20f0]")
# Look empty, though Unicode calls them letters, marks or symbols.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")

_BLOCK = (
    "address article aside blockquote body br caption center dd div dl dt figure footer form h1 h2 h3 h4 h5 h6 head "
)
_BLOCK += "header hr html li main nav ol option p pre section select table tbody td textarea tfoot th thead title tr ul"
_INLINE = "a abbr acronym b bdi bdo big button cite code del dfn em font i img input ins kbd label mark q s samp small "
_INLINE += "span strike strong sub sup time tt u var wbr"
_BLOCK_TAG = re.compile(rf"</?(?:{'|'.join(_BLOCK.split())})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_INLINE_TAG = re.compile(rf"</?(?:{'|'.join(_INLINE.split())})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_UNSHOWN = re.compile(
    r"<!--(?:(?!<!--).)*?-->|<(script|style)\b[^<>]*>(?:(?!</?\1).)*</\1\s*>", re.IGNORECASE | re.DOTALL
)
_SOFT_BREAK = re.compile(r"=[ \t]*\r?\n")
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-[ \t]*\r?\n[ \t>]*(?=[^\W\d_])")
# Scripts that are written without spaces between words: kana, Han, Thai, Lao, Burmese, Khmer.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_CUT = re.compile(rf"[{_UNSPACED}]|[^{_UNSPACED}]+")


class _Letters(dict[int, str]):
    """What each character becomes, worked out when it is first met: a table for ``str.translate``."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _letter(chr(code))
        return found


def _letter(character: str) -> str:
    if _BLANK.match(character):
        return ""
    whole = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", character).casefold())
    return "".join(_plain(part) for part in _OPTIONAL_MARKS.sub("", whole) if not _BLANK.match(part))


def _plain(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Cf" or (category == "Cc" and not character.isspace()):
        return ""
    found = _SAME.get(ord(character), character)
    # Punctuation parts words whatever it is; as white space it leaves most Western texts in plain ASCII, which is fast.
    return found if found.isascii() or category[0] not in "PSZ" else " "


_LETTERS = _Letters()


def comparable(text: str) -> str:
    """A text without case, mark-up, entities, accents, invisible characters and look-alike letters.

    Tags are those of HTML, so ``vector<int>`` keeps its ``<int>``. Quoted-printable text is decoded where it shows a
    soft line break, and a word hyphenated at the end of a line is joined. The work is linear in the text.
    """
    if "=" in text and _SOFT_BREAK.search(text):
        text = quopri.decodestring(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
    if "&" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", _UNSHOWN.sub(" ", text)))
    if "\n" in text:
        text = _HYPHENATED.sub("", text)
    return text.casefold() if text.isascii() else unicodedata.normalize("NFC", text.translate(_LETTERS))


def compared_words(text: str) -> list[str]:
    """The words of :func:`comparable`; of scripts without spaces between words, the characters."""
    found = words(comparable(text))
    if all(map(str.isascii, found)):
        return found
    return [part for word in found for part in _CUT.findall(word)]


def normalised(text: str) -> str:
    """One string for all texts that are equal once compared."""
    return joined(compared_words(text), text)


def joined(found: list[str], text: str) -> str:
    """The compared words of a text as one string; of a text without words, what there is."""
    return " ".join(found) or " ".join(comparable(text).split()) or " ".join(text.split())
