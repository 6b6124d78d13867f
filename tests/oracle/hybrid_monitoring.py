"""Hybrid, message by message, on top of the plain Filter server."""

from math import inf
from sys import float_info

from oracle.monitoring import NOWHERE, FilterServer, Point, dominates, skyline


class HybridServer(FilterServer):
    """`step` takes what changed and whether the snapshot is sampled; gives the skyline if it is."""

    def __init__(self, n: int, spread: list[float], rate: float) -> None:
        super().__init__(n, spread)
        self.sample_rate = rate
        self.at = -1
        self.sampled: set[int] = set()
        """In sampling mode; who is `watched` has a filter."""
        self.mixed: set[int] = set()
        self.since: dict[int, int] = {}
        self.calm: dict[int, int] = {}
        self.virtual_boss: dict[int, int | None] = {}

    def step(self, changes: dict[int, Point], is_sampled: bool = False) -> set[int]:
        self.at += 1
        heard = [self.move_any(i, point) for i, point in changes.items()]
        heard.append(self.let_go())
        if is_sampled:
            self.sample()
        if any(heard):
            self.resolve()
            self.mix(is_sampled)
            self.build()
        answer: set[int] = set()
        if is_sampled:
            answer = skyline({i: self.now[i] for i in self.sampled | self.mixed})
            self.take_back()
        for record in self.records:
            record.fresh = False
        return answer

    def move_any(self, i: int, point: Point) -> bool:
        if i in self.sampled:
            self.now[i] = point
            if not point:
                self.sampled.discard(i)
                self.records[i].forget()
            return False
        was_watched = self.records[i].watched
        heard = self.move(i, point)
        if not self.records[i].watched:
            self.mixed.discard(i)
        elif not was_watched:
            self.since[i], self.records[i].spent = self.at, 0
        return heard

    def let_go(self) -> bool:
        """Too dear: more than twice the sampling rate, over the time of four samples."""
        gone = []
        for i in self.watched:
            record, elapsed = self.records[i], self.at - self.since[i] + 1
            in_skyline = record.boss is None
            if not in_skyline and record.spent > 2 * 4:
                gone.append(i)
            elif elapsed > 4 / self.sample_rate:
                self.since[i], record.spent = self.at, 0
        for i in gone:
            record = self.records[i]
            record.watched, record.boss = False, None
            self.mixed.discard(i)
            self.calm[i] = -1
            if self.now[i]:
                self.sampled.add(i)
            if record.is_open:
                record.is_open, record.fresh = False, True
            else:
                self.sent["switch"] += 1
        return bool(gone)

    def sample(self) -> None:
        for i in sorted(self.sampled | self.mixed):
            record = self.records[i]
            if record.fresh or record.is_open:
                continue
            self.sent["report"] += 1
            record.fresh = i in self.mixed
            record.learn(self.now[i])

    def mix(self, is_sampled: bool) -> None:
        for i in self.members:
            if is_sampled and not self.records[i].is_open and not self.records[i].fresh:
                self.probe(i)
        wanted = set(self.members)
        self.mixed &= set(self.watched)
        for i in self.mixed ^ wanted:
            self.sent["switch"] += not self.records[i].is_open
            self.records[i].spent += not self.records[i].is_open
        self.mixed = wanted

    def take_back(self) -> None:
        for i in sorted(self.sampled):
            if not self.holds(i):
                self.draw(i)
                continue
            self.calm[i] += 1
            if self.calm[i] >= 2:
                record = self.records[i]
                self.sampled.discard(i)
                self.since[i], record.spent = self.at, 0
                record.watched, record.boss = True, self.virtual_boss[i]
                self.sent["switch"] += 1
                if record.boss is None:
                    self.mixed.add(i)
                    self.members.append(i)

    def apart(self, i: int, j: int) -> bool:
        return not self.possible(i, j) and not self.possible(j, i)

    def holds(self, i: int) -> bool:
        record = self.records[i]
        inside = all(lo <= x <= hi for lo, x, hi in zip(record.low, self.now[i], record.high, strict=True))
        if self.calm[i] < 0 or not inside:
            return False
        boss = self.virtual_boss[i]
        if boss is None:
            return all(self.apart(i, j) for j in self.members)
        return self.records[boss].watched and self.certain(boss, i)

    def draw(self, i: int) -> None:
        record = self.records[i]
        record.low, record.high, record.is_open = list(self.now[i]), list(self.now[i]), True
        boss = self.choose_boss(i)
        self.virtual_boss[i] = boss
        self.calm[i] = 0 if boss is not None or all(self.apart(i, j) for j in self.members) else -1
        farthest = float_info.max if boss is None else inf
        record.low, record.high = [-inf for _ in self.axes], [farthest for _ in self.axes]
        if boss is not None:
            self.start_after(boss, i)
        elif self.calm[i] == 0:
            for j in self.members:
                self.separate(i, j)
                self.separate(j, i)
        record.is_open = False


__all__ = ["NOWHERE", "HybridServer", "dominates"]
