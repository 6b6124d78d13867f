"""Dirt of connection logs: rows to be refused, rows of another day, odd services, and disorder."""

import numpy as np

from skyarchive.generators.dirt_picks import picks, with_lines_after
from skyarchive.generators.options import GenerateOptions
from skyarchive.generators.seeds import stream

FAULTS = (
    "malformed_ts", "no_ts", "not_an_address", "no_address", "port_too_large", "negative_port",
    "text_in_port", "too_few_fields", "too_many_fields", "other_day",
)  # fmt: skip
LBL_FAULTS = ("malformed_ts", "no_ts", "text_in_number", "too_few_fields", "too_many_fields", "other_day")
ODD_SERVICES = ('quo"te', "com,ma", "ünïcødé", "'; drop table x;--")
"""What a service field can carry; newlines and tabs it cannot. On udp rows, which do not count."""
_DAY = 86_400
_ORIG_H, _RESP_H, _RESP_P, _PROTO, _SERVICE = 2, 4, 5, 6, 7
_DISORDER = 0.01


def dirty(lines: list[str], options: GenerateOptions, day: np.datetime64) -> list[str]:
    """The day with faulty rows added after good ones, and some rows out of their order."""
    lbl = options.flavour == "lbl"
    rng = stream(options.seed, "tcp", "dirt", str(day))
    rows = np.array([i for i, line in enumerate(lines) if lbl or line.split("\t")[_PROTO] == "tcp"])
    faults, spoilt = (LBL_FAULTS, _spoilt_lbl) if lbl else (FAULTS, _spoilt)
    added = [
        (row, spoilt(lines[row], kind))
        for kind, row in picks(rng, rows, faults, round(options.dirt_share * len(lines)))
    ]
    if not lbl:
        added += [
            (int(row), _odd(lines[row], name)) for name, row in zip(ODD_SERVICES, rng.choice(rows, 4), strict=True)
        ]
    return _shuffled(with_lines_after(lines, added), rng)


def _spoilt(line: str, kind: str) -> str:
    fields = line.split("\t")
    match kind:
        case "malformed_ts":
            fields[0] = "2024-04-19T25:61:00"
        case "no_ts":
            fields[0] = "-"
        case "not_an_address":
            fields[_ORIG_H] = fields[_RESP_H] = "999.1.2.x"
        case "no_address":
            fields[_ORIG_H] = fields[_RESP_H] = "-"
        case "port_too_large":
            fields[_RESP_P] = "65536"
        case "negative_port":
            fields[_RESP_P] = "-1"
        case "text_in_port":
            fields[_RESP_P] = "https"
        case "too_few_fields":
            fields = fields[: _SERVICE + 1]
        case "too_many_fields":
            fields.append("-")
        case "other_day":
            fields[0] = _a_day_earlier(fields[0])
    return "\t".join(fields)


def _spoilt_lbl(line: str, kind: str) -> str:
    fields = line.split(" ")
    match kind:
        case "malformed_ts":
            fields[0] = "7481x2802.42"
        case "no_ts":
            fields[0] = "?"
        case "text_in_number":
            fields[1] = "long"
        case "too_few_fields":
            fields = fields[:4]
        case "too_many_fields":
            fields += ["L", "N", "more"]
        case "other_day":
            fields[0] = _a_day_earlier(fields[0])
    return " ".join(fields)


def _a_day_earlier(stamp: str) -> str:
    seconds, dot, fraction = stamp.partition(".")
    return f"{int(seconds) - _DAY}{dot}{fraction}"


def _odd(line: str, service: str) -> str:
    fields = line.split("\t")
    fields[_PROTO], fields[_SERVICE] = "udp", service
    return "\t".join(fields)


def _shuffled(lines: list[str], rng: np.random.Generator) -> list[str]:
    """A few rows change places with rows far away."""
    count = max(1, round(_DISORDER * len(lines)))
    here, there = rng.integers(0, len(lines), count), rng.integers(0, len(lines), count)
    for a, b in zip(here.tolist(), there.tolist(), strict=True):
        lines[a], lines[b] = lines[b], lines[a]
    return lines
