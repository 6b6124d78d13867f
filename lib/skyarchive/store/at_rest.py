"""One look at something that others may change meanwhile: what was found once is not looked for again."""

from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Resting:
    """Told anew whenever it is asked; `at_rest`, as it was when it was asked first."""

    _found: dict[Any, Any] | None = None

    def at_rest(self) -> Self:
        """The same for one look: to be asked, not to be changed through, and to be let go of before anything is
        written. One that is at rest already stays as it is."""
        if self.is_at_rest:
            return self
        still = copy(self)
        still._found = {}
        return still

    @property
    def is_at_rest(self) -> bool:
        return self._found is not None


_S = TypeVar("_S", bound=Resting)


def once(method: Callable[Concatenate[_S, _P], _R]) -> Callable[Concatenate[_S, _P], _R]:
    """At rest, such a method does its work once for the same arguments. Its answers are shared: nobody changes them."""

    @wraps(method)
    def found(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if self._found is None:
            return method(self, *args, **kwargs)
        key = (method.__name__, args, *sorted(kwargs.items()))
        if key not in self._found:
            self._found[key] = method(self, *args, **kwargs)
        answer: _R = self._found[key]
        return answer

    return found
