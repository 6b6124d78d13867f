"""What is no update log is refused, with a sentence that says what is wrong and where."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from skyarchive.kernels.timeline import mbr_intervals, skyline_intervals


def arguments(**changes: Any) -> dict[str, Any]:
    good = {
        "snapshot": np.array([0, 0, 1, 2], np.int32),
        "object": np.array([0, 1, 0, 1], np.int32),
        "attributes": [np.array([1.0, 2.0, 3.0, 4.0])] * 2,
        "n_snapshots": 3,
    }
    return {**good, **changes}


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


@pytest.mark.parametrize("answer", [skyline_intervals, mbr_intervals])
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"snapshot": ints(0, 2, 1, 2)}, "snapshot must be sorted: row 2 has 1 after 2"),
        ({"snapshot": ints(-1, 0, 1, 2)}, r"snapshot must be in 0..2: row 0 has -1"),
        ({"snapshot": ints(0, 0, 1, 3)}, r"snapshot must be in 0..2: row 3 has 3"),
        ({"snapshot": ints(0, 0, 1)}, "object must have one value per row: 4 for 3 rows"),
        ({"snapshot": np.array([0, 0, 1, 2])}, "snapshot must be a one-dimensional int32 array, not int64"),
        ({"snapshot": [0, 0, 1, 2]}, "snapshot must be a one-dimensional int32 array, not list"),
        ({"object": ints(0, 1, -4, 1)}, "object must be numbered from 0: row 2 has -4"),
        ({"object": ints(1, 1, 0, 1)}, "an object may have one row per snapshot: row 1"),
        ({"object": ints(2**31 - 1, 2**31 - 1, 0, 1)}, "an object may have one row per snapshot: row 1"),
        ({"object": np.zeros((2, 2), np.int32)}, "object must be a one-dimensional int32 array"),
        ({"attributes": []}, "attributes must be 1 to 16 columns, not 0"),
        ({"attributes": [np.zeros(4)] * 17}, "attributes must be 1 to 16 columns, not 17"),
        ({"attributes": [np.zeros(4), np.zeros(5)]}, r"attributes\[1\] must have one value per row: 5 for 4"),
        ({"attributes": [np.zeros(4, np.float32)]}, r"attributes\[0\] must be a one-dimensional float64 array"),
        ({"n_snapshots": -1}, "n_snapshots must be a count that fits int32, not -1"),
        ({"n_snapshots": 2**31}, "n_snapshots must be a count that fits int32"),
    ],
)
def test_bad_logs(answer: Callable[..., Any], changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        answer(**arguments(**changes))


def test_bad_method_and_tolerance() -> None:
    with pytest.raises(ValueError, match="method must be one of naive, mbr, witness, not 'fast'"):
        skyline_intervals(**arguments(), method="fast")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cfp must be at least 1, not 0"):
        mbr_intervals(**arguments(), cfp=0)


def test_read_only_and_strided_columns_are_fine() -> None:
    wide = np.array([[1.0, 9.0], [2.0, 9.0], [3.0, 9.0], [4.0, 9.0]])
    fixed = np.array([1.0, 2.0, 3.0, 4.0])
    fixed.flags.writeable = False
    strided = skyline_intervals(**arguments(attributes=[wide[:, 0], fixed]))
    plain = skyline_intervals(**arguments())
    for one, other in zip(strided, plain, strict=True):
        np.testing.assert_array_equal(one, other)
