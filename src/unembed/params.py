"""scikit-learn's constructor habits without importing scikit-learn.

A constructor only stores keyword parameters under their own names; ``get_params`` and ``set_params``
follow from its signature, so that ``sklearn.base.clone`` and replay from a result file work.
"""

from __future__ import annotations

import inspect
from typing import Any, Protocol, Self

from unembed.errors import UnknownNameError

Params = dict[str, Any]


class Named(Protocol):
    """Facts that identify what they are about."""

    @property
    def name(self) -> str:
        """How users name it."""
        ...

    @property
    def version(self) -> int:
        """Goes up whenever results may change."""
        ...


class Played(Protocol):
    """A game, an attack, a defense or a task: facts, and parameters as in scikit-learn."""

    @property
    def facts(self) -> Named:
        """What it says of itself."""
        ...

    def get_params(self, deep: bool = True) -> Params:
        """The parameters as given."""
        ...


class Parametrised:
    """Base of attacks, defenses and tasks: parameters in, learnt things end in an underscore."""

    @classmethod
    def param_names(cls) -> list[str]:
        """Names of the constructor's keyword parameters."""
        signature = inspect.signature(cls.__init__)
        return [n for n, p in signature.parameters.items() if n != "self" and p.kind is not p.VAR_KEYWORD]

    def get_params(self, deep: bool = True) -> Params:
        """The parameters as given; ``deep`` is there for scikit-learn's sake."""
        return {name: getattr(self, name) for name in self.param_names()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters; an unknown name is an error with suggestions."""
        known = self.param_names()
        for name, value in params.items():
            if name not in known:
                raise UnknownNameError(f"parameter of {type(self).__name__}", name, known)
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}={v!r}" for k, v in self.get_params().items())
        return f"{type(self).__name__}({inside})"
