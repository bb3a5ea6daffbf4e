from __future__ import annotations

from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from unembed.errors import UsageError
from unembed.gate.policy import Policy
from unembed.gate.validation import validate


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    colour: str = "red"
    size: int = 1


class One(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["one"]
    length: int = 1


class Two(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["two"]
    width: int = 1


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    inner: Inner | None = None
    many: list[Inner] = Field(default_factory=list)
    named: dict[str, Inner] = Field(default_factory=dict)
    choice: One | Two | None = Field(default=None, discriminator="kind")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"iner": {}}, "audit.toml: unknown key 'iner'; did you mean 'inner'?"),
        ({"inner": {"color": "x"}}, "audit.toml: unknown key 'color' in inner; did you mean 'colour'?"),
        ({"many": [{}, {"sise": 1}]}, "audit.toml: unknown key 'sise' in many[1]; did you mean 'size'?"),
        (
            {"named": {"a": {"colur": "x"}}},
            "audit.toml: unknown key 'colur' in named.a; did you mean 'colour'?",
        ),
        ({"inner": {"zzz": 1}}, "audit.toml: unknown key 'zzz' in inner; known: colour, size"),
        ({"inner": {"size": "big"}}, "audit.toml: inner.size: input should be a valid integer"),
    ],
)
def test_mistakes_become_one_line_with_the_place_and_the_remedy(data: object, expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        validate(Outer, data, "audit.toml")
    assert str(caught.value).startswith(expected)
    assert "\n" not in str(caught.value)


def test_suggestions_reach_into_tagged_unions() -> None:
    with pytest.raises(UsageError, match="did you mean 'width'"):
        validate(Outer, {"choice": {"kind": "two", "widht": 3}}, "audit.toml")


def test_a_misspelt_key_is_named_before_the_key_it_leaves_missing() -> None:
    with pytest.raises(UsageError, match=r"'maks' in rules\[0\]; did you mean 'max'\? \(and 1 more\)"):
        validate(Policy, {"rules": [{"id": "a", "maks": 0.2}]}, "p.toml")


def test_a_missing_key_is_named() -> None:
    with pytest.raises(UsageError, match=r"'max' is missing in rules\[0\]"):
        validate(Policy, {"rules": [{"id": "a"}]}, "p.toml")


def test_long_values_are_cut() -> None:
    with pytest.raises(UsageError) as caught:
        validate(Outer, {"inner": {"size": "x" * 500}}, "audit.toml")
    assert len(str(caught.value)) < 200


def test_a_policy_without_rules_is_refused() -> None:
    with pytest.raises(UsageError, match="rules"):
        validate(Policy, {"rules": []}, "p.toml")


def test_two_rules_with_one_id_are_refused() -> None:
    rule = {"id": "a", "max": 0.1}
    with pytest.raises(UsageError, match="two rules have the id 'a'"):
        validate(Policy, {"rules": [rule, rule]}, "p.toml")


def test_a_limit_must_be_a_number_one_can_exceed() -> None:
    with pytest.raises(UsageError, match="finite"):
        validate(Policy, {"rules": [{"id": "a", "max": float("nan")}]}, "p.toml")


def test_the_rule_every_policy_has_of_itself_is_not_given_twice() -> None:
    with pytest.raises(UsageError, match="choose another id"):
        validate(Policy, {"rules": [{"id": "everything-measured", "max": 0.1}]}, "p.toml")
