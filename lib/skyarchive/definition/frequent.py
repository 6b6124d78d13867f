"""What frequent means: unbeaten in at least a share θ of the last s snapshots."""

from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from skyarchive.errors import SettingError

THETA_PLACES = 6
"""Decimal places of θ, in a query and in the table."""
_MILLIONTHS = 10**THETA_PLACES
LONGEST_WINDOW = 2**31 - 1
"""What the table's column can hold."""


def as_written(value: Any) -> Any:
    """θ as people write it: 0.7 is seven tenths, not the binary fraction nearest to it."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError("must be a number above 0, at most 1")
    try:
        theta = Decimal(str(value).strip())
    except InvalidOperation:
        raise ValueError("must be a number above 0, at most 1") from None
    if not theta.is_finite() or not 0 < theta <= 1:
        raise ValueError("must be above 0 and at most 1")
    if theta != round(theta, THETA_PLACES):
        raise ValueError(f"must have at most {THETA_PLACES} decimal places")
    return theta.normalize()


class Query(BaseModel):
    """A frequent skyline query over a sliding window."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    theta: Annotated[Decimal, BeforeValidator(as_written)]
    """θ: the share of the window's snapshots in which an object must be unbeaten."""
    window: int = Field(strict=True)
    """s: how many snapshots the window has, the one that is asked about included."""

    @field_validator("window")
    @classmethod
    def _has_snapshots(cls, value: int) -> int:
        if not 1 <= value <= LONGEST_WINDOW:
            raise ValueError(f"must be a number of snapshots from 1 to {LONGEST_WINDOW}")
        return value

    @property
    def needed(self) -> int:
        """In how many snapshots of the window: θ·s rounded up, in whole numbers."""
        return -(-int(self.theta * _MILLIONTHS) * self.window // _MILLIONTHS)

    def __str__(self) -> str:
        return f"θ {self.theta:f} over {self.window} snapshots"


def asked_query(theta: str, window: int) -> Query:
    """The query of a command line."""
    try:
        return Query.model_validate({"theta": theta, "window": window})
    except ValidationError as error:
        problem = error.errors()[0]
        field = problem["loc"][0]
        raise SettingError(
            f"--{field} {theta if field == 'theta' else window}: {problem['msg'].removeprefix('Value error, ')}."
        ) from None
