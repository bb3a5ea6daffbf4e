"""The questions: deal, judge, floors; one file per question."""

from __future__ import annotations

from unembed.games.base import SomeGame, check_game
from unembed.registry import Registry

GAMES: Registry[type[SomeGame]] = Registry(
    "game",
    {
        "inversion": "unembed.games.inversion:InversionGame",
        "keyword": "unembed.games.keyword:KeywordGame",
        "reassembly": "unembed.games.reassembly:ReassemblyGame",
        "attribute": "unembed.games.attribute:AttributeGame",
        "number": "unembed.games.number:NumberGame",
        "names": "unembed.games.names:NamesGame",
        "pattern": "unembed.games.pattern:PatternGame",
        "fingerprint": "unembed.games.fingerprint:FingerprintGame",
        "personal": "unembed.games.personal:PersonalGame",
        "presence": "unembed.games.presence:PresenceGame",
        "candidates": "unembed.games.candidates:CandidatesGame",
        "recovery": "unembed.games.recovery:RecoveryGame",
        "membership-window": "unembed.games.membership_window:MembershipWindowGame",
        "membership-pair": "unembed.games.membership_pair:MembershipPairGame",
        "membership-user": "unembed.games.membership_user:MembershipUserGame",
        "membership-model": "unembed.games.membership_model:MembershipModelGame",
    },
    group="unembed.games",
    check=check_game,
)
