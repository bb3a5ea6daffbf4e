"""What an audit is asked to do: the audit file (TOML) and the flags give the same object."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from unembed.audit.curve import Curve, check_curve
from unembed.audit.reference_encoders import DEFAULT_REFERENCES, check_reference
from unembed.corpora.chunks import ORIGIN, chunk_problem
from unembed.corpora.patterns import parse_pattern
from unembed.errors import UsageError
from unembed.games.threat import ADVERSARIES
from unembed.gate.policy import Policy
from unembed.gate.validation import validate


class Part(BaseModel):
    """Immutable; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DataSpec(Part):
    """The texts under audit."""

    texts: str = Field(description="file or folder of texts, or generator:NAME for made-up ones")
    column: str | None = None
    id: str | None = None
    attributes: list[str] = Field(default_factory=list)
    group: str | None = Field(default=None, description="split by this column: a document stays on one side")
    time: str | None = Field(default=None, description="split by time: the adversary holds the earlier part")
    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    split: str | None = Field(default=None, description="split of a data set folder")
    max_texts: int | None = Field(default=10_000, ge=4, description="sample at most so many; none: all")
    chunk: int | None = Field(default=None, ge=1, description="cut texts into chunks of at most so many words")
    chunk_overlap: int | None = Field(default=None, ge=0, description="words that neighbouring chunks share")
    vectors: str | None = Field(default=None, description="file of vectors, one a row of texts")
    vectors_column: str | None = None

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
        if self.vectors is not None:
            raise ValueError("the vectors come from a file, one per text: a chunk of a text has none; leave chunk out")
        if self.chunk_overlap is not None and (problem := chunk_problem(self.chunk, self.chunk_overlap)):
            raise ValueError(problem)
        return self

    @property
    def together(self) -> str | None:
        """The column whose rows belong together: the group, or the text that chunks were cut from."""
        return self.group or (ORIGIN if self.chunk else None)


class EncoderSpec(Part):
    """Who makes the vectors; every other key is an option of that encoder."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = "minilm"
    fit_on: str | None = Field(default=None, description="text file that a fitted encoder (tf-idf, LSA) learns from")

    @property
    def options(self) -> dict[str, Any]:
        """Options of the encoder."""
        return dict(self.model_extra or {})


class ExternalSpec(Part):
    """Public text of another kind, for the outsider."""

    texts: str = "generator:public-text"
    column: str | None = None
    rows: int = Field(default=2000, ge=4)


class KeywordSpec(Part):
    """Which words the keyword game asks for; none: proposed from the collection."""

    words: list[str] = Field(default_factory=list)
    propose: int = Field(default=10, ge=1, le=200)
    samples: int = Field(default=120, ge=8)


class NamesSpec(Part):
    """Whose names the game of names asks for; without a file it is not played."""

    file: str | None = Field(default=None, description="file of names: one a line, or a table")
    column: str | None = Field(default=None, description="column of that table")
    find: bool = Field(default=False, description="the file holds first names: look for names in the texts with it")

    @model_validator(mode="after")
    def _file_first(self) -> NamesSpec:
        if self.file is None and (self.column or self.find):
            raise ValueError("column and find go with a file of names")
        return self


class PatternSpec(Part):
    """Secrets of which form the pattern game asks for; without a format it is not played."""

    formats: list[str] = Field(default_factory=list, description="names of ready patterns, or formats")
    sentences: list[str] = Field(default_factory=list, description="sentences round a secret, with {secret} in them")
    pairs: int = Field(default=4000, ge=20, description="secrets the adversary makes up and has encoded")

    @model_validator(mode="after")
    def _formats_parse(self) -> PatternSpec:
        for format in self.formats:
            try:
                parse_pattern(format)
            except UsageError as error:
                raise ValueError(str(error)) from error
        if self.sentences and not self.formats:
            raise ValueError("sentences go with a pattern")
        return self


class DefenseSpec(Part):
    """One defense; every other key is one of its parameters."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of the defense."""
        return dict(self.model_extra or {})


class RunSpec(Part):
    """How the audit is run; none of it changes a result."""

    jobs: int = Field(default=1, description="cells at a time; -1: one per core")
    backend: Literal["loky", "threading", "ray", "dask"] = "loky"
    folder: str | None = None
    cache: str | None = None
    no_cache: bool = False


class AuditSpec(Part):
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
    adversaries: list[str] = Field(default_factory=lambda: list(ADVERSARIES))
    games: list[str] = Field(
        default_factory=lambda: ["inversion", "keyword", "attribute", "number", "names", "pattern"]
    )
    attacks: list[str] = Field(default_factory=list, description="none: every default attack of the games")
    params: dict[str, dict[str, Any]] = Field(default_factory=dict, description="parameters by attack or game")
    share: float = Field(default=0.5, gt=0, lt=1, description="share of the collection the insider holds")
    curve: Curve = Field(
        default_factory=lambda: [0.1, 0.3],
        description='fewer of those pairs: shares, numbers of pairs, or "log" for six points on a logarithmic scale',
    )
    max_targets: int = Field(default=2000, ge=2)
    keyword: KeywordSpec = KeywordSpec()
    names: NamesSpec = NamesSpec()
    pattern: PatternSpec = PatternSpec()
    defenses: list[DefenseSpec] = Field(default_factory=list)
    policy: Policy | None = None
    baseline: str | None = None
    allow_unmeasured: bool = Field(
        default=False, description="what could not be measured does not fail the command, as long as something was"
    )
    run: RunSpec = RunSpec()

    @model_validator(mode="after")
    def _known_adversaries(self) -> AuditSpec:
        for name in self.adversaries:
            if name not in ADVERSARIES:
                raise ValueError(f"unknown adversary '{name}'; known: {', '.join(ADVERSARIES)}")
        if not self.adversaries or not self.games:
            raise ValueError("an audit needs at least one adversary and one game")
        check_curve(self.curve)
        return self

    @model_validator(mode="after")
    def _known_references(self) -> AuditSpec:
        for name in self.references:
            try:
                check_reference(name)
            except UsageError as error:
                raise ValueError(str(error)) from error
        return self


#: What ``quick`` means: fewer of everything, the same questions, adversaries and attacks.
QUICK: dict[str, Any] = {
    "data": {"max_texts": 1200},
    "external": {"rows": 1000},
    "keyword": {"samples": 60},
    "pattern": {"pairs": 1500},
    "max_targets": 600,
    "params": {"inversion/sparse-coding": {"weakest": 0.1}},
}


def read_audit_file(path: Path) -> dict[str, Any]:
    """The audit file as plain data."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"no audit file at {path}") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read: {error}") from error


def build_spec(given: dict[str, Any], where: str = "the audit") -> AuditSpec:
    """Validate plain data; ``quick`` fills what was not given with smaller numbers."""
    data = merge(QUICK, given) if given.get("quick") else given
    return validate(AuditSpec, data, where)


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Nested dictionaries, the second one winning."""
    merged = dict(base)
    for key, value in over.items():
        inner = merged.get(key)
        merged[key] = merge(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return merged
