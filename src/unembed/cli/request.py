"""From options and an audit file to the spec of an audit; options win, nonsense is refused."""

from __future__ import annotations

import json
from inspect import signature
from typing import Any

from unembed.cli.flags import AttackFlags, AuditFlags, CommonFlags
from unembed.cli.policies import limit_on_excess, read_policy_table
from unembed.encoders import ENCODERS
from unembed.errors import UsageError
from unembed.games import GAMES
from unembed.games.threat import USUAL
from unembed.runner.checking import check_effects
from unembed.runner.spec import AuditSpec, build_spec, merge, read_audit_file, sections

_WHERE = "the options"
#: Options that stand in the audit file under the same name: under [data], at its top, under [run].
_OF_DATA = [
    "texts",
    "store",
    "column",
    "id",
    "group",
    "time",
    "split",
    "format",
    "encoding",
    "vectors",
    "vectors_column",
    "chunk",
    "chunk_overlap",
]
_OF_THE_AUDIT = [
    "share",
    "max_targets",
    "quick",
    "repeats",
    "seed",
    "threads",
    "device",
    "title",
    "samples",
    "allow_unmeasured",
]
_OF_THE_RUN = ["jobs", "backend", "no_cache", "cell_timeout", "budget", "memory"]


def audit_request(flags: AuditFlags) -> tuple[AuditSpec, dict[str, Any]]:
    """The spec of ``unembed audit``, and what was given for it."""
    given = read_audit_file(flags.audit_file) if flags.audit_file else {}
    over = _overlay(flags)
    _put(over, flags.game, "games")
    _put(over, flags.attack, "attacks")
    _check_options(flags)
    return _build(given, over, str(flags.audit_file) if flags.audit_file else _WHERE)


def attack_request(flags: AttackFlags) -> tuple[AuditSpec, dict[str, Any]]:
    """The spec of ``unembed attack``: one attack, its own game, the insider unless told otherwise."""
    from unembed.attacks import ATTACKS

    game = ATTACKS.get(flags.name).facts.game
    over = _overlay(flags)
    _put(over, [flags.name], "attacks")
    beside = {name for name in sections() if name in over and GAMES.get(name).facts.played_by == game}
    _put(over, [game, *sorted(beside - {game})], "games")
    unheard = [name for name in sections() if name in over and name not in over["games"]]
    if unheard:
        raise UsageError(f"'{flags.name}' plays '{game}': an option of the game '{unheard[0]}' has no effect")
    _put(over, flags.adversary or [USUAL], "adversaries")
    if flags.curve is None:
        _put(over, [], "curve")
    if GAMES.get(game).facts.of_columns and not flags.attribute:
        raise UsageError(f"'{flags.name}' needs a column to infer: add --attribute COLUMN")
    _check_options(flags)
    spec, data = _build({}, over, _WHERE)
    lacking = spec.options[game].lacking() if game in spec.options else None
    if lacking:
        raise UsageError(f"'{flags.name}' needs {lacking}")
    return spec, data


def _build(given: dict[str, Any], over: dict[str, Any], where: str) -> tuple[AuditSpec, dict[str, Any]]:
    data = _take_over(given, over)
    if not isinstance(data.get("data"), dict) or not {"texts", "store", "vectors"} & set(data["data"]):
        raise UsageError("no texts named: add --texts FILE or --store URL, or 'texts' under [data] in an audit file")
    spec = build_spec(data, where)
    check_effects(spec, data)
    return spec, data


def _overlay(flags: CommonFlags) -> dict[str, Any]:
    """What the options say, as the tables of an audit file."""
    over: dict[str, Any] = {}
    for name in _OF_DATA:
        _put(over, getattr(flags, name), "data", name)
    _put(over, flags.attribute, "data", "attributes")
    if flags.delimiter is not None:
        _put(over, "\t" if flags.delimiter in ("tab", "\\t") else flags.delimiter, "data", "delimiter")
    if flags.max_texts is not None:
        _put(over, _count(flags.max_texts), "data", "max_texts", even_none=True)
    _put(over, flags.encoder, "encoder", "name")
    _put(over, flags.fit_on, "encoder", "fit_on")
    for option in flags.encoder_option or []:
        name, value = name_and_value(option, "--encoder-option")
        if name in ("name", "fit_on"):
            raise UsageError(f"--encoder-option {name}: use --encoder or --fit-on")
        _put(over, value, "encoder", name)
    if flags.allow_remote:
        _put(over, True, "encoder", "allow_remote")
    _put(over, flags.external, "external", "texts")
    _put(over, flags.external_column, "external", "column")
    _put(over, flags.trained_on, "training", "texts")
    _put(over, flags.trained_column, "training", "column")
    _put(over, flags.adversary, "adversaries")
    for section, options in sections().items():
        for field, flag in options.flags.items():
            _put(over, getattr(flags, flag, None), section, field)
    for setting in flags.set_ or []:
        name, value = name_and_value(setting, "--set")
        owner, dot, parameter = name.rpartition(".")
        if not dot or not owner:
            raise UsageError(f"--set {setting}: expected NAME.PARAM=VALUE, e.g. inversion/mlc.epochs=5")
        _put(over, value, "params", owner, parameter)
    _put(over, _named(flags.defense, "--defense"), "defenses")
    _put(over, _named(flags.utility, "--utility"), "utility")
    _put(over, None if flags.curve is None else _curve(flags.curve), "curve")
    for name in _OF_THE_AUDIT:
        _put(over, getattr(flags, name), name)
    for name in _OF_THE_RUN:
        _put(over, getattr(flags, name), "run", name)
    _put(over, None if flags.cache is None else str(flags.cache), "run", "cache")
    _put(over, None if flags.out is None else str(flags.out), "run", "folder")
    if flags.policy is not None:
        _put(over, read_policy_table(flags.policy), "policy")
    if flags.references is not None:
        _put(over, _references(flags.references), "references")
    if flags.no_calibration:
        _put(over, False, "calibrate")
    if flags.max_excess is not None:
        _put(over, limit_on_excess(flags.max_excess, flags.detects), "policy")
    elif flags.detects is not None:
        raise UsageError("--detects goes with --max-excess; in a policy file a rule has the key 'detects'")
    _put(over, None if flags.baseline is None else str(flags.baseline), "baseline")
    return over


def _take_over(given: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """The file with the options laid over it: an option also displaces what it contradicts in the file."""
    kept = dict(given)
    data = dict(kept["data"]) if isinstance(kept.get("data"), dict) else {}
    new = over.get("data", {})
    for one, other in (("group", "time"), ("time", "group")):
        if one in new and other not in new:
            data.pop(other, None)
    if "name" in over.get("encoder", {}):
        kept.pop("encoder", None)
    if data or "data" in kept:
        kept["data"] = data if isinstance(kept.get("data", {}), dict) else kept["data"]
    if "policy" in over:
        kept.pop("policy", None)
    encoder = over.get("encoder", {})
    if encoder.get("allow_remote") and "store" in {**data, **new}:
        over = {**over, "data": {**new, "allow_remote": True}}
        file = kept.get("encoder")
        if not _may_ask(encoder.get("name") or (file.get("name") if isinstance(file, dict) else None)):
            # The permission is for the store alone.
            over["encoder"] = {key: value for key, value in encoder.items() if key != "allow_remote"}
            if not over["encoder"]:
                del over["encoder"]
    return merge(kept, over)


def _may_ask(encoder: str | None) -> bool:
    """Whether an encoder takes the permission to ask another machine; those of files are not loaded to find out."""
    if encoder is None:
        return False
    name = encoder.partition(":")[0]
    return name not in ENCODERS or "allow_remote" in signature(ENCODERS.get(name)).parameters


def _check_options(flags: CommonFlags) -> None:
    pairs = (
        (flags.policy, "--policy", flags.max_excess, "--max-excess"),
        (flags.cache, "--cache", flags.no_cache, "--no-cache"),
        (flags.store, "--store", flags.vectors, "--vectors"),
        (flags.group, "--group", flags.time, "--time"),
    )
    for one, first, other, second in pairs:
        if one is not None and other is not None:
            raise UsageError(f"{first} and {second} contradict each other: leave one out")


def _put(target: dict[str, Any], value: Any, *path: str, even_none: bool = False) -> None:
    if value is None and not even_none:
        return
    for part in path[:-1]:
        target = target.setdefault(part, {})
    target[path[-1]] = value


def name_and_value(text: str, option: str) -> tuple[str, Any]:
    """What an option of the form NAME=VALUE says; lists and tables are written as JSON."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"{option}: expected NAME=VALUE")  # not what was given: it may be a key
    if value[:1] in ("[", "{"):
        try:
            return name.strip(), json.loads(value)
        except (ValueError, RecursionError):
            raise UsageError(f"{option} {name}: the value is not valid JSON") from None
    return name.strip(), value


def _named(texts: list[str] | None, option: str) -> list[object] | None:
    """Names with parameters after commas, as tables of an audit file; what is joined by 'then' makes a list of them."""
    if texts is None:
        return None
    steps = [[step.strip().split(",") for step in text.split(" then ")] for text in texts]
    tables = [
        [{"name": n, **dict(name_and_value(s, f"{option} {n}") for s in given)} for n, *given in one] for one in steps
    ]
    return [one if len(one) > 1 else one[0] for one in tables]


def _references(names: list[str]) -> list[str]:
    if "none" in names and len(names) > 1:
        raise UsageError("--references none goes alone: leave it or the other names out")
    return [] if names == ["none"] else names


def _count(text: str) -> int | None:
    if text == "all":
        return None
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"--max-texts is a whole number or 'all', not '{text}'") from None


def _curve(text: str) -> list[int | float] | str:
    plain = text.strip().lower()
    if plain in ("none", "log"):
        return [] if plain == "none" else "log"
    try:
        return [int(part) if part.strip().isdigit() else float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"--curve takes shares or numbers of pairs such as 0.1,0.3, 'log' or 'none', not '{text}'"
        ) from None
