"""``unembed.audit``: a whole audit in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from unembed.api.inputs import Inputs, take_in
from unembed.api.objects import ModelObject, Part, encoder_table, listed, part_of
from unembed.api.progress import Progress, shown
from unembed.api.run import Run, policy_of
from unembed.attacks import ATTACKS
from unembed.collections import Collection
from unembed.collections.stores.address import shown as shown_address
from unembed.defenses import DEFENSES
from unembed.encoders.base import Encoder
from unembed.errors import UnknownNameError, UsageError
from unembed.games import GAMES
from unembed.registry import Registry
from unembed.runner import execute
from unembed.runner.prepare import Given, wanted_of
from unembed.runner.prepare import Progress as RunProgress
from unembed.runner.spec import AuditSpec, DataSpec, RunSpec, build_spec, sections, whole_spec
from unembed.utility import UTILITY


def audit(
    texts: Any,
    vectors: Any = None,
    encoder: Any = None,
    attributes: Any = None,
    groups: Any = None,
    *,
    column: str | None = None,
    ids: Any = None,
    quick: bool = False,
    seed: int = 0,
    folder: str | Path | None = None,
    games: Any = None,
    attacks: Any = None,
    adversaries: Sequence[str] | str | None = None,
    defenses: Any = None,
    utility: Any = None,
    policy: Any = None,
    progress: bool | Progress | None = None,
    **more: Any,
) -> Run:
    """Measure what the vectors of texts give away, to whom, at what price.

    The findings are those of ``unembed audit`` on the same data with the same seed, to the last bit.

    Args:
        texts: A list, array or series of texts; a pandas or polars frame, an Arrow table or a Hugging Face data set
            that has a column of them; the path of a file or folder, as on the command line; a ``Collection``; or a
            vector store that holds them with their vectors: its address (``"chroma:./chroma/notes"``) or its client's
            own object, such as a Chroma collection.
        vectors: Their vectors, one per text in the same order: an array of numpy or torch, a list of lists, the name of
            a column of the table, or the path of a file. Without them the encoder makes them.
        encoder: Who makes vectors: a name (``"minilm"``, ``"sentence-transformer:path/to/model"``), a dict of a name
            and options, a function of texts, or an object with ``encode`` such as a ``SentenceTransformer``.
        attributes: What might be inferred: names of columns; a dict from names to values; or a list of values.
        groups: Texts that belong together (a document, a user) and stay on one side of the split: the name of a
            column, a dict of one name and its values, or a list of values.
        column: The column of texts, where a table has several; an obvious one is found.
        ids: Unique ids, or the name of the column that holds them; without them texts are known by their row numbers.
        quick: Fewer texts and targets, the same questions.
        seed: Of all random choices. The same seed gives the same findings.
        folder: Keeps the run and goes on where it stopped. Without it nothing stays on disk.
        games: The questions: names, classes or objects. Without them, all usual ones.
        attacks: Names, classes or objects, also a class typed into a notebook. Without them, the usual ones.
        adversaries: Who attacks, by name.
        defenses: Defenses to attack as well: names, dicts with parameters, classes, objects; a list of them is a chain.
        utility: What the vectors are good for: tasks by name, dict, class or object.
        policy: Limits that the run is held against, as for ``Run.gate``; the answer is ``run.result.gate``.
        progress: None: shown in notebooks and terminals. True: in logs too. False: silent. Or a function of (what,
            done, total).
        more: Every other key of the audit file: ``max_targets=500``, ``keyword=["flood"]``, ``params={…}``, ``jobs=2``.

    Raises:
        UnembedError: The input can't be used as it is; the message says what to change.
    """
    settings = {
        "games": games,
        "attacks": attacks,
        "adversaries": adversaries,
        "defenses": defenses,
        "utility": utility,
        "policy": policy,
        "attributes": attributes,
        "groups": groups,
        "column": column,
        "ids": ids,
        "quick": quick,
        "seed": seed,
        **more,
    }
    with prepared(texts, vectors, encoder, folder=folder, progress=progress, **settings) as ready:
        given = ready.given_for(ready.spec)
        result, _ = execute.audit(
            ready.spec, spec_given=ready.shown, command=ready.command, progress=ready.tell, given=given
        )
    return Run(result, None if folder is None else Path(folder))


@dataclass(frozen=True)
class Ready:
    """An audit that was asked for with objects, ready to run: they are lent to the registries as long as it lasts.

    ``given_for`` hands them over for an audit of that size; ``shown`` is the request as the result shows it.
    """

    spec: AuditSpec
    shown: dict[str, Any]
    command: str
    tell: RunProgress
    given_for: Callable[[AuditSpec], Given]


@contextmanager
def prepared(
    texts: Any,
    vectors: Any,
    encoder: Any,
    *,
    folder: str | Path | None,
    progress: bool | Progress | None,
    attributes: Any = None,
    groups: Any = None,
    column: str | None = None,
    ids: Any = None,
    quick: bool = False,
    seed: int = 0,
    **settings: Any,
) -> Iterator[Ready]:
    """Take in what ``unembed.audit`` is given; see there."""
    found = take_in(
        texts,
        column=column,
        vectors=vectors,
        attributes=attributes,
        groups=groups,
        time=settings.pop("time", None),
        ids=ids,
    )
    table, given = encoder_table(encoder)
    with ExitStack() as stack:
        data = _tables({"quick": quick, "seed": seed, **settings}, stack)
        data["data"] = {**found.data, **data.get("data", {})}
        if table:
            data["encoder"] = table
        shown_data = {key: value for key, value in data.items() if key != "run"}
        _place(data, folder, stack, given, objects=given is not None or _lent(settings))
        yield Ready(
            spec=build_spec(data, "unembed.audit"),
            shown=shown_data,
            command=_call(data, found, folder),
            tell=stack.enter_context(shown(progress)),
            given_for=lambda spec: Given(_collection(found, spec, bool(table)), given),
        )


def _collection(found: Inputs, spec: AuditSpec, encoder_given: bool) -> Collection | None:
    if found.by_name:
        return None
    if spec.data.chunk and (found.vectors is not None or (found.opened is not None and found.opened.stored)):
        raise UsageError("the vectors are there, one per text: a chunk of a text has none; leave chunk out")
    return found.collection(wanted_of(spec), can_encode=encoder_given)


def _tables(settings: dict[str, Any], stack: ExitStack) -> dict[str, Any]:
    """What was said, in the tables of an audit file; classes are lent to the registries until the audit ends."""
    data: dict[str, Any] = {}
    params: dict[str, dict[str, Any]] = {}
    players: tuple[tuple[str, Registry[Any]], ...] = (("games", GAMES), ("attacks", ATTACKS))
    transforms: tuple[tuple[str, Registry[Any]], ...] = (("defenses", DEFENSES), ("utility", UTILITY))
    for key, registry in players:
        if (given := settings.pop(key, None)) is not None:
            parts = [_borrowed(registry, part_of(registry, one), stack) for one in listed(given)]
            data[key] = [part.name for part in parts]
            params |= {part.name: part.params for part in parts if part.params}
    for key, registry in transforms:
        if (given := settings.pop(key, None)) is not None:
            data[key] = [_chain(registry, one, stack) for one in listed(given)]
    if (policy := settings.pop("policy", None)) is not None:
        data["policy"] = policy_of(policy).model_dump(exclude_unset=True)
    if (who := settings.pop("adversaries", None)) is not None:
        data["adversaries"] = listed(who)
    for name, value in settings.items():
        _put(data, name, value)
    if params:
        data["params"] = {**data.get("params", {}), **params}
    return data


def _chain(registry: Any, given: Any, stack: ExitStack) -> Any:
    if isinstance(folder := getattr(given, "folder", None), Path):  # what load_defense gave
        return {"name": "saved", "folder": str(folder)}
    if isinstance(given, Sequence) and not isinstance(given, str):
        return [_borrowed(registry, part_of(registry, one), stack).table for one in given]
    return _borrowed(registry, part_of(registry, given), stack).table


def _borrowed(registry: Any, part: Part, stack: ExitStack) -> Part:
    if part.made_by is not None:
        stack.enter_context(registry.lending(part.name, part.made_by))
    return part


def _lent(settings: Mapping[str, Any]) -> bool:
    """Whether some part was given as an object, which no other process has."""
    given = [one for key in ("games", "attacks", "defenses", "utility") for one in listed(settings.get(key))]
    flat = [one for many in given for one in (many if isinstance(many, list | tuple) else [many])]
    return any(not isinstance(one, str | Mapping) for one in flat)


def _put(data: dict[str, Any], name: str, value: Any) -> None:
    """A further setting, where an audit file has it; games' options also by the names the command line uses."""
    flags = {flag: (section, field) for section, o in sections().items() for field, flag in o.flags.items()}
    spec = whole_spec().model_fields
    if name in flags and not (name in spec and isinstance(value, Mapping)):
        section, field = flags[name]
        data.setdefault(section, {})[field] = listed(value)
    elif name in spec and name not in ("data", "run"):
        data[name] = value
    elif name in DataSpec.model_fields:
        data.setdefault("data", {})[name] = value
    elif name in RunSpec.model_fields:
        data.setdefault("run", {})[name] = value
    else:
        raise UnknownNameError("argument", name, [*spec, *DataSpec.model_fields, *RunSpec.model_fields, *flags])


def _place(
    data: dict[str, Any], folder: str | Path | None, stack: ExitStack, given: Encoder | None, *, objects: bool
) -> None:
    """Where the run goes: to a folder that stays, or to a private one that is removed with all that is in it."""
    run = dict(data.get("run", {}))
    if isinstance(given, ModelObject):  # nobody can know whether it still gives the same vectors
        run["no_cache"] = True
    if folder is None:
        private = stack.enter_context(TemporaryDirectory(prefix="unembed-", ignore_cleanup_errors=True))
        run["folder"] = str(Path(private) / "run")
        if not run.get("cache") and not run.get("no_cache"):
            run["cache"] = str(Path(private) / "cache")
    else:
        run["folder"] = str(folder)
    if objects:
        if run.get("backend", "threading") != "threading" or run.get("cell_timeout") or run.get("budget"):
            raise UsageError(
                "an encoder, attack, game, defense or task given as an object is there in this process alone: leave "
                "backend, cell_timeout and budget out, or give a name or path/to/file.py:Name"
            )
        run["backend"] = "threading"
    data["run"] = run


def _call(data: Mapping[str, Any], found: Inputs, folder: str | Path | None) -> str:
    """The call in words, without anything that it was given to look at."""
    named = found.data.get("texts") or shown_address(found.data["store"])
    said = [f"'{named}'" if found.by_name else "texts"]
    said += ["vectors"] if found.vectors is not None else []
    for key, value in data.items():
        if key not in ("data", "run") and not isinstance(value, Mapping | list):
            said.append(f"{key}={value!r}")
        elif key not in ("data", "run"):
            said.append(f"{key}=…")
    said += [f"attributes={found.data['attributes']!r}"] if found.data.get("attributes") else []
    said += [f"folder='{folder}'"] if folder is not None else []
    return f"unembed.audit({', '.join(said)})"
