"""The result file: everything a report shows stands in it, and a run can be repeated from it.

Times, and the seal over all, are the only values that differ between two runs of the same command; times stand in
fields whose names end in ``seconds`` or ``_at`` so that ``without_times`` can leave them out.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from unembed.metrics.estimate import Estimate
from unembed.results.identity import CellIdentity
from unembed.strict import Strict

SCHEMA_VERSION = 2
#: What most adversaries learn from.
PAIRS = "pairs of text and vector"


def _null_is_nan(data: Any) -> Any:
    if isinstance(data, dict):
        return {k: math.nan if v is None and k in ("value", "low", "high") else v for k, v in data.items()}
    return data


#: A number in a file that may be missing.
Number = Annotated[float, BeforeValidator(lambda v: math.nan if v is None else v)]
#: An estimate in a file: JSON has no NaN, so a value that could not be measured is null there.
Measured = Annotated[Estimate, BeforeValidator(_null_is_nan)]

#: A yardstick read the texts themselves: something to compare with, and no statement about vectors.
Status = Literal["leak", "no-leak-found", "inconclusive", "could-not-measure", "yardstick"]
Level = Literal["none", "low", "moderate", "high", "unknown"]


class Floor(Strict):
    """What an adversary scores without the information: "prior" only, "shuffled" vectors, "random" vectors, or what a
    game has of its own.
    """

    kind: str
    estimate: Measured


class Cost(Strict):
    """What the adversary needed."""

    capabilities: list[str]
    pairs: int = Field(description="texts with their vectors that the adversary held, or what ``learns_from`` says")
    learns_from: str = Field(default=PAIRS, description="what the adversary learnt from, counted in ``pairs``")
    queries: int = Field(description="texts the adversary had encoded on purpose")
    targets: int = Field(description="vectors under attack")
    fit_seconds: float
    run_seconds: float
    device: str = "cpu"


class Trust(Strict):
    """Whether the attack works where it must: it succeeded, or finds a planted leak, or answers held-back pairs."""

    trusted: bool
    reason: str


class Detects(Strict):
    """How small a leak this audit would have found, from leaks of known size planted into the same vectors."""

    size: float | None = Field(
        description="smallest excess over guessing of a planted leak that was found every time; null: none was found"
    )
    kinds: list[str] = Field(description="how the leaks were planted")
    blind: list[str] = Field(default_factory=list, description="kinds the attack can't see, to which size is silent")
    tried: dict[str, list[int]] = Field(description="by size: plantings found, plantings tried")


class Slice(Strict):
    """The same measurement on a part of the targets or answers: one keyword, one class, one frequency band."""

    kind: str
    name: str
    estimate: Measured
    floor: float | None = None
    clear: bool | None = Field(
        default=None, description="above its floor for sure, the number of parts considered; null: as the interval says"
    )


class Sample(Strict):
    """One target with what was read back; masked unless the user asked for real samples."""

    target: str = Field(description="id of the target text")
    truth: list[str]
    recovered: list[str]
    hits: list[bool] = Field(default_factory=list, description="which of the recovered words are right")
    masked: bool = True


class Reference(Strict):
    """What the same attack by the same adversary reads from another encoder's vectors of the same texts."""

    encoder: str
    estimate: Measured
    floor: Measured
    pairs: int = Field(description="texts with their vectors that the adversary held; of very many only some")


class Finding(Strict):
    """One measurement: never a bare number."""

    id: str
    cell: str
    game: str
    attack: str
    adversary: str
    encoder: str
    defense: str | None = None
    adaptive: bool | None = Field(default=None, description="adversary trained on defended vectors")
    curve: bool = Field(
        default=False, description="a point of the curve over pairs: the adversary held only some of its pairs"
    )
    subject: str | None = Field(default=None, description="the attribute column or the keyword set in question")
    metric: str
    estimate: Measured
    floors: list[Floor]
    floor: Measured = Field(description="the strongest of the floors, chosen on other targets than it is counted on")
    excess: Measured = Field(description="estimate minus floor, paired over the same targets")
    luck: float | None = Field(
        default=None,
        description="standard deviation that the choice of the pairs gives the metric; it is in the intervals",
    )
    headroom: Number = Field(description="excess as a share of what is possible above the floor")
    secondary: dict[str, Measured] = Field(default_factory=dict)
    secondary_floors: dict[str, Number] = Field(
        default_factory=dict, description="the best that any floor scores in the same metrics"
    )
    slices: list[Slice] = Field(default_factory=list)
    samples: list[Sample] = Field(default_factory=list)
    about: Literal["collection", "encoder"] = Field(
        default="collection",
        description="encoder: the challenger wrote the targets itself, no text of the user's is one",
    )
    status: Status
    level: Level
    reason: str = Field(default="", description="why it has this status, in one sentence")
    section: str | None = Field(
        default=None, description="the section of the report that shows it; null: none of its own"
    )
    claim: str = Field(default="", description="what the adversary can do, in words: the end of a sentence")
    contrary: list[str] = Field(
        default_factory=list, description="metrics clearly above guessing although the headline is not"
    )
    doubt: str | None = Field(default=None, description="why finding nothing would say nothing")
    trust: Trust
    detects: Detects | None = Field(default=None, description="null: not calibrated")
    references: list[Reference] = Field(
        default_factory=list, description="the same question asked of other encoders; no judgement rests on them"
    )
    cost: Cost
    seed: int
    notes: list[str] = Field(default_factory=list)

    @property
    def yardstick(self) -> bool:
        """Whether it says what the texts tell, to compare with, and nothing about vectors."""
        return self.status == "yardstick"


class UtilityScore(Strict):
    """What vectors are good for: one task, scored on plain vectors or on a variant of them."""

    task: str
    title: str
    params: dict[str, Any] = Field(default_factory=dict)
    variant: str | None = Field(default=None, description="the defense, as findings name it; null: plain vectors")
    metric: str
    metric_meaning: str
    estimate: Measured
    loss: Measured | None = Field(
        default=None, description="plain vectors minus this variant, paired over the same texts; null: plain vectors"
    )
    secondary: dict[str, Measured] = Field(default_factory=dict)
    seed: int
    seconds: float
    notes: list[str] = Field(default_factory=list)
    error: str | None = Field(default=None, description="why there is no score")


class VariantCost(Strict):
    """What a defense costs beside usefulness, as measured on the machine of the run."""

    variant: str = Field(description="the defense, as findings name it")
    dimension: int = Field(description="numbers in one stored vector")
    stored_bytes: float = Field(description="bytes of one stored vector, without what an index adds")
    plain_bytes: float = Field(description="bytes of one undefended vector as float32")
    transform_seconds: float = Field(description="time that defending one vector takes, in batches and one thread")
    notes: list[str] = Field(default_factory=list, description="what was learnt that its owner must know")
    saved: str | None = Field(default=None, description="folder of the fitted defense, within the run folder")


class Skipped(Strict):
    """Something that was not tested, and why."""

    what: str
    subject: str | None = Field(default=None, description="the attribute column or the keyword set in question")
    adversary: str | None = None
    reason: str
    missing: list[str] = Field(default_factory=list)


class CellRecord(Strict):
    """One unit of work: what it was, and how it ended."""

    key: str
    identity: CellIdentity
    status: Literal["done", "failed"]
    error: str | None = None
    traceback: str | None = None
    seconds: float = 0.0


class Coverage(Strict):
    """How much of its texts the encoder reads."""

    limit: int | None = Field(description="tokens of a text that the encoder reads; null: nobody knows how many")
    kept: Literal["first", "last"] = Field(default="first", description="which of them are read")
    texts: int
    longer: int = Field(description="texts that are longer; where the limit is not known, those of over 200 words")
    tokens: int | None = Field(default=None, description="tokens of all texts")
    unread: int | None = Field(default=None, description="tokens that the encoder never saw")


class DataCard(Strict):
    """A corpus as it was used: where from, how many rows, what was removed."""

    role: Literal["corpus", "target", "adversary", "owner", "external"]
    name: str
    rows: int
    fingerprint: str
    facts: dict[str, Any] = Field(default_factory=dict)
    coverage: Coverage | None = Field(default=None, description="absent where the encoder reads texts of any length")


class AdversaryCard(Strict):
    """One adversary of the threat model."""

    name: str
    title: str
    description: str
    capabilities: list[str]


class AttackCard(Strict):
    """The facts of an attack that a report needs."""

    name: str
    game: str
    title: str
    paper: str | None
    section: str | None
    departures: str | None
    requires: list[str]
    cost: str


class GameCard(Strict):
    """The facts of a game that a report needs."""

    name: str
    question: str
    metric: str
    metric_meaning: str
    consequence: str
    tags: list[str] = Field(default_factory=list, description="OWASP and MITRE ATLAS ids")


class RuleOutcome(Strict):
    """One rule of the policy, held against one finding."""

    rule: str
    finding: str | None
    outcome: Literal["met", "violated", "inconclusive", "could-not-measure", "accepted", "not-applicable"]
    severity: Literal["error", "warning"] = "error"
    message: str


class GateResult(Strict):
    """The policy's answer."""

    passed: bool
    exit_code: int
    outcomes: list[RuleOutcome]


class Verdict(Strict):
    """The answer in one sentence, and the weakest adversary that succeeds."""

    level: Level
    sentence: str
    adversary: str | None = None
    findings: list[str] = Field(default_factory=list, description="ids of the findings it rests on")
    variant: str | None = Field(default=None, description="the defense it is about; null: the vectors as they are")
    variants: list[Verdict] = Field(
        default_factory=list, description="the same for each defense, against adversaries who know it"
    )


class Environment(Strict):
    """What the run ran on."""

    unembed: str
    python: str
    platform: str
    packages: dict[str, str]
    threads: int
    device: str


class Run(Strict):
    """A whole audit."""

    schema_version: int = SCHEMA_VERSION
    title: str
    command: str = Field(description="the command that repeats this run")
    created_at: str
    finished_at: str
    seconds: float
    status: Literal["complete", "partial", "nothing-ran"]
    spec_given: dict[str, Any]
    spec: dict[str, Any]
    environment: Environment
    encoder: dict[str, Any]
    data: list[DataCard]
    adversaries: list[AdversaryCard]
    games: list[GameCard]
    attacks: list[AttackCard]
    cells: list[CellRecord]
    findings: list[Finding]
    skipped: list[Skipped]
    utility: list[UtilityScore] = Field(default_factory=list)
    variants: list[VariantCost] = Field(default_factory=list, description="what each defense costs")
    verdict: Verdict
    gate: GateResult | None = None
    seal: str | None = Field(default=None, description="SHA-256 of the rest as the file holds it")


def without_times(data: Any) -> Any:
    """The same data without times and the seal over them: two runs of one command agree on the rest."""
    if isinstance(data, dict):
        return {k: without_times(v) for k, v in data.items() if not k.endswith(("seconds", "_at")) and k != "seal"}
    if isinstance(data, list):
        return [without_times(v) for v in data]
    return data


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a result file."""
    return Run.model_json_schema()
