"""What runs over the wire: services with their share of the traffic, daily rhythm, sizes and endings."""

from typing import NamedTuple


class Service(NamedTuple):
    """One kind of connection. Bytes and seconds are medians of heavy-tailed draws."""

    name: str
    proto: str
    ports: tuple[int, ...]
    share: float
    peak_hour: float
    swing: float
    """0 is the same all day; near 1 nearly nothing at the quietest hour."""
    outgoing: float
    """Chance that the local side opens the connection."""
    seconds: float
    sent: float
    received: float
    completes: float
    """Chance to end in SF; otherwise refused, reset or unanswered."""


SERVICES = (
    Service("http", "tcp", (80, 8080, 8000), 0.16, 14, 0.7, 0.15, 3.0, 380, 900, 0.92),
    Service("ssl", "tcp", (443, 443, 443, 8443), 0.17, 15, 0.8, 0.45, 8.0, 1500, 6000, 0.94),
    Service("ssh", "tcp", (22,), 0.13, 3, 0.3, 0.03, 3.5, 1250, 1700, 0.85),
    Service("smtp", "tcp", (25, 587, 465), 0.06, 10, 0.6, 0.30, 2.0, 2500, 400, 0.90),
    Service("imap", "tcp", (993, 143, 995, 110), 0.05, 9, 0.8, 0.05, 20.0, 600, 3500, 0.92),
    Service("rdp", "tcp", (3389, 5900, 23), 0.05, 2, 0.4, 0.0, 1.0, 60, 120, 0.20),
    Service("-", "tcp", (445, 3306, 8728, 30003, 1433, 2222, 5555, 6379), 0.16, 0, 0.2, 0.0, 0.1, 0, 0, 0.02),
    Service("dns", "udp", (53,), 0.10, 14, 0.6, 0.97, 0.05, 95, 220, 0.97),
    Service("ntp", "udp", (123,), 0.02, 12, 0.0, 0.9, 0.03, 48, 48, 0.95),
    Service("-", "udp", (161, 1900, 5060), 0.03, 4, 0.1, 0.0, 0.1, 60, 0, 0.0),
    Service("-", "icmp", (3, 0), 0.07, 12, 0.1, 0.8, 0.3, 200, 0, 0.0),
)

LBL_NAMES = {
    80: "http", 8080: "www", 8000: "www", 443: "http", 8443: "www", 22: "login", 25: "smtp", 587: "smtp",
    465: "smtp", 993: "nntp", 143: "nntp", 995: "pop", 110: "pop", 3389: "telnet", 5900: "shell",
    23: "telnet", 445: "ftp-data",
    3306: "ftp", 8728: "finger", 30003: "domain", 2222: "X11", 5555: "gopher", 6379: "time",
}  # fmt: skip
"""The services of the nineties, in the place of those that listen on these ports today."""
