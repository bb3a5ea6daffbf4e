"""What an audit is asked to do: the audit file (TOML) and the flags give the same object."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, create_model, model_validator

from unembed.corpora.chunks import ORIGIN, chunk_problem
from unembed.defenses import DEFENSES
from unembed.errors import UsageError
from unembed.files import read_toml
from unembed.games import GAMES
from unembed.games.asking import Options
from unembed.games.threat import ADVERSARIES, Adversary, Capability
from unembed.gate.policy import Policy
from unembed.gate.validation import validate
from unembed.runner.curve import Curve, check_curve
from unembed.runner.parameters import typed_params, typed_parts
from unembed.runner.reference_encoders import DEFAULT_REFERENCES, check_reference
from unembed.strict import Strict
from unembed.utility import UTILITY

#: What may leave the machine, and which key goes with it: the person who runs the audit decides, not the file.
_ONLY_OPTIONS = {"allow_remote": "--allow-remote", "api_key_env": "--encoder-option api_key_env=NAME"}


def _in_units(**units: float) -> BeforeValidator:
    """Numbers with a unit behind them (``90``, ``10m``), and 'none' for no limit; anything else is left alone."""

    def number(told: Any) -> Any:
        if isinstance(told, str) and told.strip().lower() == "none":
            return math.inf
        if isinstance(told, str) and (found := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]?)\s*", told.lower())):
            return float(found[1]) * {"": 1.0, **units}[found[2]] if found[2] in {"", *units} else told
        return told

    return BeforeValidator(number)


Seconds = Annotated[float, _in_units(s=1, m=60, h=3600)]
Bytes = Annotated[float, _in_units(k=2**10, m=2**20, g=2**30, t=2**40)]


class DataSpec(Strict):
    """The texts under audit."""

    texts: str | None = Field(
        default=None,
        description="file or folder of texts, or generator:NAME for made-up ones; not where a store has them",
    )
    store: str | None = Field(default=None, description="address of a vector store, such as chroma:PATH/COLLECTION")
    allow_remote: bool = Field(default=False, description="whether a store on another machine may be asked")
    column: str | None = None
    id: str | None = None
    attributes: list[str] = Field(default_factory=list)
    group: str | None = Field(default=None, description="split by this column: a document stays on one side")
    time: str | None = Field(default=None, description="split by time: the adversary holds the earlier part")
    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    split: str | None = Field(default=None, description="split of a data set folder")
    max_texts: int | None = Field(
        default=10_000, ge=4, description="largest number of texts, drawn at random; none: all"
    )
    chunk: int | None = Field(default=None, ge=1, description="cut texts into chunks of at most this many words")
    chunk_overlap: int | None = Field(default=None, ge=0, description="words that neighbouring chunks share")
    vectors: str | None = Field(default=None, description="file of vectors, one per row of texts")
    vectors_column: str | None = None

    @model_validator(mode="after")
    def _one_place(self) -> DataSpec:
        if self.texts is None and not self.has_vectors:
            raise ValueError("no texts: name a file of texts, or a store that holds them")
        if self.store is not None and self.vectors is not None:
            raise ValueError("the vectors come from a store or from a file: leave one out")
        return self

    @model_validator(mode="after")
    def _one_split(self) -> DataSpec:
        if self.group and self.time:
            raise ValueError("split by group or by time, not both")
        return self

    @model_validator(mode="after")
    def _chunks_fit(self) -> DataSpec:
        if self.chunk is None:
            if self.chunk_overlap is not None:
                raise ValueError("an overlap of chunks goes with their length: add chunk")
            return self
        if self.has_vectors:
            raise ValueError("the vectors come from a file, one per text: a chunk of a text has none; leave chunk out")
        if self.chunk_overlap is not None and (problem := chunk_problem(self.chunk, self.chunk_overlap)):
            raise ValueError(problem)
        return self

    @property
    def has_vectors(self) -> bool:
        """Whether the vectors are there already, so that no encoder makes them."""
        return self.vectors is not None or self.store is not None

    @property
    def shown(self) -> str:
        """What a title calls it: the file, or the collection or table of a store."""
        from unembed.collections.stores.address import shown

        return shown(self.store) if self.store is not None else Path(self.texts or self.vectors or "").name

    @property
    def together(self) -> str | None:
        """The column whose rows belong together: the group, or the text that chunks were cut from."""
        return self.group or (ORIGIN if self.chunk else None)


class AdversarySpec(Strict):
    """An adversary of the user's own: what it holds decides what it can carry out."""

    name: str = Field(min_length=1)
    title: str | None = None
    description: str = ""
    capabilities: list[Capability]

    @model_validator(mode="after")
    def _holds_something(self) -> AdversarySpec:
        if Capability.VECTORS not in self.capabilities:
            raise ValueError("an adversary holds at least the vectors")
        if not {Capability.SHADOW_CORPUS, Capability.EXTERNAL_CORPUS} & set(self.capabilities):
            raise ValueError("an adversary needs texts to learn from: 'shadow corpus' or 'external corpus'")
        if Capability.TEXTS in self.capabilities:
            raise ValueError("nobody who holds the texts under attack needs their vectors")
        return self

    @property
    def adversary(self) -> Adversary:
        """As the games know it."""
        held = frozenset(self.capabilities)
        return Adversary(self.name, self.title or self.name, self.description, held)


class EncoderSpec(Strict):
    """Who makes the vectors; every other key is an option of that encoder."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = "minilm"
    fit_on: str | None = Field(default=None, description="text file that a fitted encoder (tf-idf, LSA) learns from")

    @property
    def options(self) -> dict[str, Any]:
        """Options of the encoder."""
        return dict(self.model_extra or {})


class ExternalSpec(Strict):
    """Public text of another kind, for the outsider."""

    texts: str = "generator:public-text"
    column: str | None = None
    rows: int = Field(default=2000, ge=4)


class TrainingSpec(Strict):
    """The texts that the encoder itself was trained on, for an encoder of the user's own.

    Where a question is about membership, a sample of them joins the collection, whose own texts are then those that
    were held out.
    """

    texts: str = Field(description="file or folder of texts")
    column: str | None = None


class Named(Strict):
    """Something registered, by its name alone or as a table in which every other key is one of its parameters."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, data: Any) -> Any:
        return {"name": data} if isinstance(data, str) else data

    @property
    def params(self) -> dict[str, Any]:
        """Its parameters."""
        return dict(self.model_extra or {})


class DefenseSpec(Named):
    """One defense."""


class UtilitySpec(Named):
    """One utility task."""

    @property
    def columns(self) -> list[str]:
        """Columns of the texts that it looks at."""
        return [self.params[p] for p in UTILITY.get(self.name).facts.column_params if p in self.params]


class RunSpec(Strict):
    """How the audit is run; of all this only the budgets change a result, where they make the audit smaller."""

    jobs: int = Field(default=1, description="cells at a time; -1: one per core")
    backend: Literal["loky", "threading", "ray", "dask"] = "loky"
    folder: str | None = None
    cache: str | None = None
    no_cache: bool = False
    cell_timeout: Seconds | None = Field(
        default=None, gt=0, description="time after which a measurement is given up as failed; none: no limit"
    )
    budget: Seconds | None = Field(
        default=None,
        gt=0,
        description="time for the whole audit: fewer texts are used if it would take longer, and no measurement "
        'goes on past it; unless given, 30m for all of more than 10,000 texts (max_texts none); "none": no limit',
    )
    keep_defenses: bool = Field(default=False, description="keep each fitted defense, with its key, in the run folder")
    memory: Bytes | None = Field(
        default=None, gt=2**30, description="memory for the whole audit: fewer texts are used if it would take more"
    )

    @model_validator(mode="after")
    def _can_be_ended(self) -> RunSpec:
        if self.limited and self.backend != "loky":
            raise ValueError(
                f"a time limit (cell_timeout, budget) needs processes: leave it or the back-end {self.backend} out"
            )
        return self

    @property
    def limited(self) -> bool:
        """Whether measurements may have to be ended."""
        return any(limit is not None and math.isfinite(limit) for limit in (self.cell_timeout, self.budget))


class AuditSpec(Strict):
    """A whole audit."""

    title: str | None = None
    seed: int = Field(default=0, ge=0)
    threads: int = Field(default=2, ge=1, description="threads of one cell; part of the result's identity")
    device: str = "auto"
    quick: bool = False
    repeats: int | None = Field(
        default=None,
        ge=0,
        le=100,
        description="how often an attack learns again from part of its pairs, to put their luck into the interval; "
        "none: 5 where a round takes seconds",
    )
    calibrate: bool = Field(
        default=True, description="plant leaks of known size to learn how small a leak would have been found"
    )
    references: list[str] = Field(
        default_factory=lambda: list(DEFAULT_REFERENCES),
        description="encoders to put beside the findings: bag-of-words, lsa, random, or any encoder's name; none: []",
    )
    samples: bool = Field(default=False, description="show recovered text in the report instead of masking it")
    data: DataSpec
    encoder: EncoderSpec = EncoderSpec()
    external: ExternalSpec = ExternalSpec()
    training: TrainingSpec | None = None
    adversaries: list[str] = Field(default_factory=lambda: list(ADVERSARIES), description="who attacks, weakest first")
    adversary: list[AdversarySpec] = Field(default_factory=list, description="adversaries of the user's own")
    games: list[str] = Field(default_factory=lambda: [n for n, g in _games().items() if g.facts.default])
    attacks: list[str] = Field(default_factory=list, description="none: every default attack of the games")
    params: dict[str, dict[str, Any]] = Field(default_factory=dict, description="parameters by attack or game")
    share: float = Field(default=0.5, gt=0, lt=1, description="share of the collection the insider holds")
    curve: Curve = Field(
        default_factory=lambda: [0.1, 0.3],
        description='fewer of those pairs: shares, numbers of pairs, or "log" for six points on a logarithmic scale',
    )
    max_targets: int = Field(default=2000, ge=2)
    defenses: list[DefenseSpec | list[DefenseSpec]] = Field(
        default_factory=list, description="variants to attack as well: a defense, or several behind one another"
    )
    unaware: bool = Field(default=True, description="attack each defense also by adversaries who do not know of it")
    owners_part: bool | None = Field(
        default=None,
        description="keep half of the insider's texts for defenses that learn what to hide; none: where there is one",
    )
    utility: list[UtilitySpec] = Field(
        default_factory=list, description="what the vectors are good for, scored with and without each defense"
    )
    policy: Policy | None = None
    baseline: str | None = None
    allow_unmeasured: bool = Field(
        default=False, description="what could not be measured does not fail the command, as long as something was"
    )
    run: RunSpec = RunSpec()

    @model_validator(mode="before")
    @classmethod
    def _own_adversaries_play(cls, data: Any) -> Any:
        """Whoever describes an adversary wants it to be played, unless they say who is."""
        if not isinstance(data, dict) or "adversaries" in data or not isinstance(data.get("adversary"), list):
            return data
        own = [a["name"] for a in data["adversary"] if isinstance(a, dict) and isinstance(a.get("name"), str)]
        return {**data, "adversaries": [*ADVERSARIES, *own]}

    @model_validator(mode="before")
    @classmethod
    def _who_was_learnt_from(cls, data: Any) -> Any:
        """Whoever names what the encoder learnt from wants to know what it tells of that, unless they say what."""
        if not isinstance(data, dict) or "games" in data or not data.get("training"):
            return data
        return {**data, "games": [n for n, g in _games().items() if g.facts.default or g.facts.needs_training]}

    @model_validator(mode="after")
    def _known_adversaries(self) -> AuditSpec:
        own = [a.name for a in self.adversary]
        for name in own:
            if name in ADVERSARIES or own.count(name) > 1:
                raise ValueError(f"there is an adversary '{name}' already: give yours another name")
        known = [*ADVERSARIES, *own]
        for name in self.adversaries:
            if name not in known:
                raise ValueError(f"unknown adversary '{name}'; known: {', '.join(known)}")
        if not self.adversaries or not self.games:
            raise ValueError("an audit needs at least one adversary and one game")
        check_curve(self.curve)
        return self

    @property
    def asks_encoder(self) -> bool:
        """Whether texts can be encoded: with stored vectors only where the encoder that made them is named."""
        return not self.data.has_vectors or "name" in self.encoder.model_fields_set

    @property
    def cast(self) -> list[Adversary]:
        """Who attacks, in the order given."""
        own = {a.name: a.adversary for a in self.adversary}
        return [own.get(name) or ADVERSARIES[name] for name in dict.fromkeys(self.adversaries)]

    @property
    def chains(self) -> list[list[DefenseSpec]]:
        """The transforms behind the encoder, by variant."""
        return [list(one) if isinstance(one, list) else [one] for one in self.defenses]

    @property
    def keeps_owners_part(self) -> bool:
        """Whether a part of the collection is kept for defenses that learn what to hide."""
        if self.owners_part is not None:
            return self.owners_part
        return any(DEFENSES.get(step.name).facts.supervised for steps in self.chains for step in steps)

    @property
    def asks_of_training(self) -> bool:
        """Whether a question is about the texts that the encoder learnt from."""
        return any(GAMES.get(name).facts.needs_training for name in self.games)

    @property
    def columns(self) -> list[str]:
        """Columns to be read beside the texts."""
        named = (*self.data.attributes, self.data.group, self.data.time, *(c for u in self.utility for c in u.columns))
        return list(dict.fromkeys(c for c in named if c))

    @property
    def what_is_measured(self) -> dict[str, Any]:
        """All but what judges results or says where and how fast: none of that changes a measurement."""
        beside = {"run", "policy", "baseline", "allow_unmeasured", "title", "samples", "references", "utility"}
        return {**self.model_dump(mode="json", exclude=beside), "asks encoder": self.asks_encoder}

    @property
    def options(self) -> dict[str, Options]:
        """What was said to each game, else its defaults; games without options are not in it."""
        return {name: getattr(self, name, made()) for name, made in sections().items()}

    @model_validator(mode="after")
    def _known_references(self) -> AuditSpec:
        for name in self.references:
            try:
                check_reference(name)
            except UsageError as error:
                raise ValueError(str(error)) from error
        return self


def _games() -> dict[str, Any]:
    """All games that can be loaded, in the order in which they are registered."""
    working = GAMES.working()
    return {name: working[name] for name in GAMES.registered() if name in working}


@lru_cache
def sections() -> dict[str, type[Options]]:
    """The sections of an audit file that belong to games."""
    return {name: game.Options for name, game in _games().items() if issubclass(getattr(game, "Options", int), Options)}


@lru_cache
def whole_spec() -> type[AuditSpec]:
    """The spec with a section for every game that has options."""
    fields: dict[str, Any] = {name: (made, made()) for name, made in sections().items()}
    return create_model("AuditSpec", __base__=AuditSpec, __doc__=AuditSpec.__doc__, **fields)


def quick_numbers() -> dict[str, Any]:
    """What ``quick`` means: fewer of everything, the same questions, adversaries and attacks."""
    from unembed.attacks import ATTACKS

    return {
        "data": {"max_texts": 1200},
        "external": {"rows": 1000},
        "max_targets": 600,
        "params": {name: dict(a.facts.quick) for name, a in ATTACKS.working().items() if a.facts.quick},
        **{name: dict(made.quick) for name, made in sections().items() if made.quick},
    }


def read_audit_file(path: Path) -> dict[str, Any]:
    """The audit file as plain data; it may come from somebody else, so it can't say what leaves the machine."""
    data = read_toml(path, "audit file")
    sections = [data.get("encoder"), data.get("data")]
    for key, option in _ONLY_OPTIONS.items():
        if any(isinstance(one, dict) and key in one for one in sections):
            raise UsageError(f"{path}: a file can't decide about '{key}': take it out and add {option} to the command")
    return data


def build_spec(given: dict[str, Any], where: str = "the audit") -> AuditSpec:
    """Validate plain data and type its parameters; ``quick`` fills what was not given with smaller numbers."""
    data = merge(quick_numbers(), given) if given.get("quick") else dict(given)
    if "params" in data:
        data["params"] = typed_params(data["params"])
    for key, registry in (("defenses", DEFENSES), ("utility", UTILITY)):
        if key in data:
            data[key] = typed_parts(data[key], registry)
    return validate(whole_spec(), data, where)


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Nested dictionaries, the second one winning."""
    merged = dict(base)
    for key, value in over.items():
        inner = merged.get(key)
        merged[key] = merge(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return merged
