"""Watching records live, message by message: every pair compared, nothing remembered but what the server was told.

The rules are those of the kernels, written down a second time the plain way, so that messages can be counted.
"""

from collections import Counter
from math import inf, nextafter, sqrt
from sys import float_info

Point = tuple[float, ...]
SOURCES = 16
SLOWEST = 1e-3
FAILURE, PROBE = 2.0, 3.0
NOWHERE: Point = ()


def dominates(a: list[float] | Point, b: list[float] | Point) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True)) and any(x < y for x, y in zip(a, b, strict=True))


def skyline(points: dict[int, Point]) -> set[int]:
    return {i for i, p in points.items() if not any(dominates(q, p) for q in points.values())}


def balanced(a: float, b: float, begin: float, end: float) -> float:
    x = begin + (end - begin) * (sqrt(a) / (sqrt(a) + sqrt(b)))
    return x if begin < x <= end else end


class Record:
    """What the server knows of a client it watches."""

    def __init__(self, spread: list[float]) -> None:
        self.known: Point = NOWHERE
        self.rate = [(s if s > 0 else 1.0) * SLOWEST for s in spread]
        self.low: list[float] = []
        self.high: list[float] = []
        self.boss: int | None = None
        self.watched = self.is_open = self.fresh = self.loose = False
        self.spent = 0

    def learn(self, point: Point) -> None:
        if self.known:
            self.rate = [max(r, abs(x - k)) for r, x, k in zip(self.rate, point, self.known, strict=True)]
        self.known = point

    def hear(self, point: Point) -> None:
        self.learn(point)
        self.low, self.high, self.is_open = list(point), list(point), True

    def forget(self) -> None:
        self.watched, self.known, self.is_open = False, NOWHERE, False

    @property
    def may_be_absent(self) -> bool:
        return all(x == inf for x in self.high)


class FilterServer:
    """Filter: `step` takes what changed at a snapshot and gives the skyline."""

    def __init__(self, n: int, spread: list[float]) -> None:
        self.axes = range(len(spread))
        self.records = [Record(spread) for _ in range(n)]
        self.now: list[Point] = [NOWHERE] * n
        self.sources: list[Point] = []
        self.logged = 0
        self.sent: Counter[str] = Counter()
        self.members: list[int] = []

    @property
    def watched(self) -> list[int]:
        return [i for i, record in enumerate(self.records) if record.watched]

    @property
    def uplink(self) -> int:
        return sum(self.sent[kind] for kind in ("birth", "death", "failure", "probe", "report"))

    @property
    def downlink(self) -> int:
        return sum(self.sent[kind] for kind in ("birth", "failure", "renewal", "switch")) + 2 * self.sent["probe"]

    def certain(self, a: int, b: int) -> bool:
        return dominates(self.records[a].high, self.records[b].low)

    def possible(self, a: int, b: int) -> bool:
        return dominates(self.records[a].low, self.records[b].high)

    def step(self, changes: dict[int, Point]) -> set[int]:
        heard = [self.move(i, point) for i, point in changes.items()]
        if any(heard):
            self.resolve()
            self.build()
        return set(self.members)

    def move(self, i: int, point: Point) -> bool:
        record = self.records[i]
        self.now[i] = point
        if not point:
            if not record.watched or record.may_be_absent:
                return False
            self.sent["death"] += 1
            record.forget()
            return True
        if not record.watched:
            record.watched, record.boss = True, None
            self.sent["birth"] += 1
        elif all(lo <= x <= hi for lo, x, hi in zip(record.low, point, record.high, strict=True)):
            return False
        else:
            self.sent["failure"] += 1
            record.spent += 2
        record.hear(point)
        return True

    def probe(self, i: int) -> bool:
        record = self.records[i]
        self.sent["renewal" if record.fresh else "probe"] += 1
        record.spent += 1 if record.fresh else 3
        if not self.now[i]:
            record.forget()
            return False
        record.hear(self.now[i])
        return True

    def resolve(self) -> None:
        """Algorithm 2 on those whom nobody certainly beats."""
        everybody = self.watched
        for i in everybody:
            record = self.records[i]
            boss = None if record.boss is None else self.records[record.boss]
            safe = boss is not None and boss.watched and self.certain(record.boss, i)  # type: ignore[arg-type]
            record.loose = record.is_open or not safe
        contenders = [i for i in everybody if not any(self.certain(j, i) for j in everybody if j != i)]
        alive = set(contenders)
        self.members = []
        for i in contenders:
            if i not in alive:
                continue
            record = self.records[i]
            beaten, doubtful = self.standing(i, alive)
            if not record.is_open and not beaten and (doubtful or record.may_be_absent):
                if not self.probe(i):
                    alive.discard(i)
                    continue
                beaten, doubtful = self.standing(i, alive)
            if doubtful and not beaten:
                beaten = self.ask_rivals(i, sorted(alive - {i}), alive)
            if beaten:
                alive.discard(i)
            else:
                self.members.append(i)

    def standing(self, i: int, alive: set[int]) -> tuple[bool, bool]:
        rivals = alive - {i}
        return any(self.certain(j, i) for j in rivals), any(self.possible(j, i) for j in rivals)

    def ask_rivals(self, i: int, rivals: list[int], alive: set[int]) -> bool:
        asked = [j for j in rivals if not self.records[j].is_open and self.possible(j, i)]
        beaten = False
        for j in asked:
            if not self.probe(j):
                alive.discard(j)
            elif dominates(self.now[j], self.now[i]):
                beaten = True
                break
        if asked:
            self.sources[self.logged % SOURCES : self.logged % SOURCES + 1] = [self.now[i]]
            self.logged += 1
        return beaten

    # --- filters ----------------------------------------------------------------------------------------------

    def build(self) -> None:
        """Algorithm 3: bosses of who keeps its filter, members apart from each other, then everybody else."""
        for i in self.watched:
            record = self.records[i]
            if record.is_open:
                farthest = float_info.max if i in self.members else inf
                record.low, record.high = [-inf for _ in self.axes], [farthest for _ in self.axes]
        for i in self.watched:
            record = self.records[i]
            if i in self.members:
                record.boss = None
            elif record.loose or self.records[record.boss].is_open:  # type: ignore[index]
                record.boss = self.choose_boss(i)
                assert record.boss is not None
                if not record.is_open and self.records[record.boss].is_open:
                    self.end_before(record.boss, i)
        for i in self.members:
            for j in self.members:
                if i != j and (self.records[i].is_open or self.records[j].is_open):
                    self.separate(i, j)
        for i in self.watched:
            if i not in self.members and self.records[i].is_open:
                self.start_after(self.records[i].boss, i)  # type: ignore[arg-type]
        for record in self.records:
            record.is_open = record.loose = False

    def choose_boss(self, i: int) -> int | None:
        item = self.records[i]
        place = list(item.known) if item.is_open else item.low

        def risk(j: int) -> tuple[bool, float]:
            member = self.records[j]
            total = 0.0
            for k in self.axes:
                weight = sqrt(PROBE * member.rate[k])
                if item.is_open:
                    weight += sqrt(FAILURE / 2 * item.rate[k])
                total += weight * weight / max(place[k] - member.known[k], 1e-300)
            return member.is_open or item.is_open, total

        able = [
            j for j in self.members
            if dominates(self.records[j].known if self.records[j].is_open else self.records[j].high, place)
        ]  # fmt: skip
        return min(able, key=risk, default=None)

    def end_before(self, boss: int, i: int) -> None:
        member, low = self.records[boss], self.records[i].low
        member.high = [min(high, start) for high, start in zip(member.high, low, strict=True)]
        if member.high == low:
            widest = max(self.axes, key=lambda k: low[k] - member.known[k])
            member.high[widest] = nextafter(member.high[widest], -inf)

    def start_after(self, boss: int, i: int) -> None:
        member, item = self.records[boss], self.records[i]
        for k in self.axes:
            begin, end, edge = member.known[k], item.known[k], member.high[k]
            own, asked = FAILURE / 2 * item.rate[k], PROBE * member.rate[k]
            x = balanced(asked, own, begin, end) if begin < end else end
            if not member.is_open:
                x = max(x, edge)
            else:
                if edge > x:
                    moved = FAILURE / 2 * member.rate[k]
                    x = min(max(balanced(asked + moved, own, begin, end) if begin < end else end, x), edge)
                member.high[k] = min(edge, x)
            item.low[k] = x
        if member.high == item.low:
            widest = max(self.axes, key=lambda k: item.known[k] - member.known[k])
            if item.low[widest] < item.known[widest]:
                item.low[widest] = nextafter(item.low[widest], inf)
            else:
                member.high[widest] = nextafter(member.high[widest], -inf)

    def separate(self, i: int, j: int) -> None:
        """Makes sure that j cannot possibly beat i."""
        if not self.possible(j, i):
            return
        lower, upper = self.records[i], self.records[j]
        found = []
        for k in self.axes:
            begin = lower.known[k] if lower.is_open else lower.high[k]
            end = upper.known[k] if upper.is_open else upper.low[k]
            if begin < end:
                cost, x = self.boundary(lower, upper, k, begin, end)
                found.append((cost, k, x))
        if found:
            _, k, x = min(found)
            if lower.is_open:
                lower.high[k] = min(lower.high[k], nextafter(x, -inf))
            if upper.is_open:
                upper.low[k] = max(upper.low[k], x)
            return
        if lower.is_open:
            lower.high = [min(high, at) for high, at in zip(lower.high, lower.known, strict=True)]
        if upper.is_open:
            upper.low = [max(low, at) for low, at in zip(upper.low, upper.known, strict=True)]

    def boundary(self, lower: Record, upper: Record, k: int, begin: float, end: float) -> tuple[float, float]:
        first, last = -inf, inf
        if not lower.is_open:
            x = nextafter(begin, inf)
        elif not upper.is_open:
            x = end
        else:
            first, last = upper.low[k], nextafter(lower.high[k], inf)
            x = min(max(balanced(lower.rate[k], upper.rate[k], begin, end), first), last)
        others = [nextafter(source[k], inf) for source in self.sources]
        places = [x, *(o for o in others if begin < o <= end and first <= o <= last)]
        costs = [self.split_cost(lower, upper, k, nextafter(x, -inf), x) for x in places]
        least = min(costs)
        return least - self.split_cost(lower, upper, k, inf, -inf), places[costs.index(least)]

    def split_cost(self, lower: Record, upper: Record, k: int, ends: float, starts: float) -> float:
        cost = 0.0
        if lower.is_open:
            high = min(lower.high[k], ends)
            weight = FAILURE * lower.rate[k] / (2 * len(self.axes))
            cost += weight / max(high - lower.known[k], 1e-300) + self.asked(lower, k, lower.low[k], high)
        if upper.is_open:
            low = max(upper.low[k], starts)
            weight = FAILURE * upper.rate[k] / (2 * len(self.axes))
            cost += weight / max(upper.known[k] - low, 1e-300) + self.asked(upper, k, low, upper.high[k])
        return cost

    def asked(self, record: Record, k: int, low: float, high: float) -> float:
        """How many of the sources lie where the record may beat them but not certainly does."""
        lows, highs = [*record.low], [*record.high]
        lows[k], highs[k] = low, high
        count = 0
        for source in self.sources:
            past_low = all(x >= lo for x, lo in zip(source, lows, strict=True))
            past_high = all(x >= hi for x, hi in zip(source, highs, strict=True))
            count += past_low and not past_high
        return PROBE * count / SOURCES
