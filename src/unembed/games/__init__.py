"""The questions: deal, judge, floors; one file per question."""

from __future__ import annotations

from typing import Any

from unembed.games.base import check_game
from unembed.registry import Registry

GAMES: Registry[type[Any]] = Registry(
    "game",
    {
        "inversion": "unembed.games.inversion:InversionGame",
        "keyword": "unembed.games.keyword:KeywordGame",
        "attribute": "unembed.games.attribute:AttributeGame",
        "names": "unembed.games.names:NamesGame",
    },
    group="unembed.games",
    check=check_game,
)
