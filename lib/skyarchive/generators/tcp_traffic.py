"""A day of connections between a few local hosts and a heavy-tailed crowd of remote networks."""

from dataclasses import dataclass

import numpy as np

from skyarchive.generators.options import GenerateOptions
from skyarchive.generators.seeds import stream
from skyarchive.generators.tcp_services import SERVICES

CONNECTIONS = 6000
FEWEST = 100
NETWORKS = 900
V6_SHARE = 0.06
SENSOR = "64.225.56.10"
"""The local host with a public address: what is local is then known from the log alone."""
PRIVATE_HOSTS = ("10.7.0.4", "192.168.20.15", "172.16.3.9")
RESOLVER = "10.7.0.2"
INSIDE = 0.1
"""Share of the private hosts' own connections that stay inside, at the resolver."""
NEIGHBOUR, ROUTERS = "fe80::fced:c7ff:fe31:e821", "ff02::2"
"""Who asks for routers on the wire, which is local to neither side in Zeek's eyes."""
PRIVATE_SHARE = 0.25
UNFLAGGED = 0.3
"""Share of the private hosts' connections whose local_orig and local_resp are '-'."""
BURST_SHARE = 0.05
WEEKEND = 0.75
_RESERVED = (0, 10, 100, 127, 169, 172, 192, 198, 203)
"""First octets that are private or otherwise special in part: remote networks stay out of them."""
_MINUTES = 1440


@dataclass(frozen=True)
class Traffic:
    """Connections of a day in no order, one array entry each; ts is in microseconds from midnight UTC."""

    ts: np.ndarray
    service: np.ndarray
    port: np.ndarray
    outgoing: np.ndarray
    local: np.ndarray
    remote: np.ndarray
    local_flag: np.ndarray
    remote_flag: np.ndarray
    local_port: np.ndarray
    completes: np.ndarray
    answered: np.ndarray
    seconds: np.ndarray
    sent: np.ndarray
    received: np.ndarray


def of_day(options: GenerateOptions, day: np.datetime64, v6: bool = True) -> Traffic:
    """The day's connections."""
    rng = stream(options.seed, "tcp", str(day))
    activity = (1.0 if np.is_busday(day) else WEEKEND) * rng.uniform(0.95, 1.05)
    count = max(FEWEST, round(CONNECTIONS * options.size * activity))
    shares = np.array([service.share for service in SERVICES])
    service = rng.choice(len(SERVICES), count, p=shares / shares.sum())
    ports = np.array([_padded(s.ports) for s in SERVICES])
    outgoing = rng.random(count) < _of("outgoing", service)
    private = rng.random(count) < PRIVATE_SHARE
    local = np.where(private, np.array(PRIVATE_HOSTS, object)[rng.integers(0, 3, count)], SENSOR)
    remote = _remotes(options, rng, service, v6)
    remote[private & outgoing & (rng.random(count) < INSIDE)] = RESOLVER
    flags = _flags(rng, private, remote == RESOLVER)
    seconds, sent, received = (_heavy(rng, _of(name, service)) for name in ("seconds", "sent", "received"))
    traffic = Traffic(
        ts=_times(rng, service),
        service=service,
        port=ports[service, rng.integers(0, ports.shape[1], count)],
        outgoing=outgoing,
        local=local,
        remote=remote,
        local_flag=flags[0],
        remote_flag=flags[1],
        local_port=rng.integers(1024, 65536, count),
        completes=rng.random(count) < _of("completes", service),
        answered=rng.random(count) < 0.85,
        seconds=np.minimum(seconds, 3600.0),
        sent=sent.astype(np.int64),
        received=received.astype(np.int64),
    )
    _burst(rng, traffic)
    if v6:
        _look_for_routers(traffic)
    return traffic


def _flags(rng: np.random.Generator, private: np.ndarray, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether Zeek says that each side is local: T, F or, for some of the private hosts, nothing."""
    unsaid = private & (rng.random(len(private)) < UNFLAGGED)
    local = np.where(unsaid, "-", "T").astype(object)
    return local, np.where(unsaid, "-", np.where(inside, "T", "F")).astype(object)


def _padded(ports: tuple[int, ...], width: int = 8) -> list[int]:
    """The ports repeated up to a common width; 8 is the least that all lengths divide nearly evenly."""
    return [ports[i % len(ports)] for i in range(width)]


def _of(attribute: str, service: np.ndarray) -> np.ndarray:
    return np.array([getattr(s, attribute) for s in SERVICES], float)[service]


def _heavy(rng: np.random.Generator, median: np.ndarray) -> np.ndarray:
    return median * np.exp(rng.normal(0.0, 1.2, len(median)))


def _times(rng: np.random.Generator, service: np.ndarray) -> np.ndarray:
    """Moments by each service's daily rhythm: the share of the day's minutes, turned round."""
    hours = (np.arange(_MINUTES) + 0.5) / 60
    minutes = np.empty(len(service))
    for number, kind in enumerate(SERVICES):
        mine = np.flatnonzero(service == number)
        rhythm = 1 + kind.swing * np.cos((hours - kind.peak_hour) * 2 * np.pi / 24)
        passed = np.concatenate([[0.0], np.cumsum(rhythm) / rhythm.sum()])
        minutes[mine] = np.interp(rng.random(len(mine)), passed, np.arange(_MINUTES + 1))
    return np.minimum((minutes * 60e6).astype(np.int64), 86_400_000_000 - 1)


def _networks(options: GenerateOptions) -> tuple[np.ndarray, np.ndarray]:
    """Prefixes of the remote networks of all days (all but the last part of an address), and whether IPv6."""
    rng = stream(options.seed, "tcp", "networks")
    count = max(40, round(NETWORKS * options.size**0.5))
    allowed = np.setdiff1d(np.arange(1, 224), _RESERVED)
    octets = np.column_stack([rng.choice(allowed, count), rng.integers(0, 256, (count, 2))])
    six = rng.random(count) < V6_SHARE
    parts = rng.integers(0x1000, 0xFFFF, (count, 2))
    prefixes = [
        f"2a01:4f8:{parts[i, 0]:x}:{parts[i, 1]:x}::" if six[i] else f"{a}.{b}.{c}."
        for i, (a, b, c) in enumerate(octets)
    ]
    return np.array(prefixes, object), six


def _remotes(options: GenerateOptions, rng: np.random.Generator, service: np.ndarray, v6: bool) -> np.ndarray:
    """Remote addresses; each service has favourites of its own among the networks, few of them very busy."""
    prefixes, six = _networks(options)
    if not v6:
        prefixes = prefixes[~six]
    rank = np.floor(rng.pareto(0.7, len(service)) * 2).astype(np.int64)
    spread = rng.integers(0, len(prefixes), len(service))
    rank = np.where(rank < len(prefixes), rank, spread)
    favourites = [
        stream(options.seed, "tcp", "favourites", number).permutation(len(prefixes)) for number in range(len(SERVICES))
    ]
    network = np.array(favourites)[service, rank]
    host = (1 + rng.integers(0, 254, len(service)) // (1 + network % 200)).astype(str).astype(object)
    return prefixes[network] + host


def _burst(rng: np.random.Generator, traffic: Traffic) -> None:
    """Somebody scans: one network knocks on many ports within a few minutes."""
    size = max(1, int(BURST_SHARE * len(traffic.ts)))
    scan = next(i for i, s in enumerate(SERVICES) if s.proto == "tcp" and s.name == "-")
    knocks = rng.choice(np.flatnonzero(traffic.service == scan), size)  # some of them, some more than once
    start = int(rng.integers(0, 86_000)) * 1_000_000
    traffic.ts[knocks] = start + rng.integers(0, 300_000_000, size)
    traffic.remote[knocks] = traffic.remote[knocks[0]]
    traffic.port[knocks] = rng.integers(1, 65536, size)


def _look_for_routers(traffic: Traffic) -> None:
    """Turn a few of the icmp rows into router solicitations."""
    icmp = np.array([service.proto == "icmp" for service in SERVICES])[traffic.service]
    asking = np.flatnonzero(icmp)[::20]
    traffic.local[asking], traffic.remote[asking], traffic.outgoing[asking] = NEIGHBOUR, ROUTERS, True
    traffic.local_flag[asking] = traffic.remote_flag[asking] = "F"
    traffic.port[asking] = 134
