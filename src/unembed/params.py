"""scikit-learn's constructor habits without importing scikit-learn.

A constructor only stores parameters under their own names; ``get_params`` and ``set_params`` follow from its signature,
so that ``sklearn.base.clone`` and replay from a result file work.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self, dataclass_transform

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


#: Marks a constructor that follows from fields, also from further fields of subclasses; a written one is kept.
_FROM_FIELDS = "_from_fields"


def learnt(*, init: Literal[False] = False) -> Any:
    """A field that ``fit`` sets: not a parameter, and absent before."""
    return field(init=init)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(learnt, field))
class Parametrised:
    """Base of games, attacks, defenses, encoders and tasks: parameters in, learnt things end in an underscore.

    Parameters are declared as fields with their defaults, and the constructor follows from them. They go by name;
    ``field(kw_only=False)`` marks one that may also be given by position. A class may also write its own constructor,
    which stores parameters under their own names and does nothing else.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        maker = next(base for base in cls.__mro__ if "__init__" in vars(base))
        written = maker is not object and not hasattr(vars(maker)["__init__"], _FROM_FIELDS)
        dataclass(cls, init=not written, kw_only=True, eq=False, repr=False)
        if not written:
            setattr(vars(cls)["__init__"], _FROM_FIELDS, True)

    @classmethod
    def param_names(cls) -> list[str]:
        """Names of the constructor's parameters."""
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
        defaults = inspect.signature(type(self)).parameters
        shown = [f"{k}={v!r}" for k, v in self.get_params().items() if v is not defaults[k].default]
        return f"{type(self).__name__}({', '.join(shown)})"
