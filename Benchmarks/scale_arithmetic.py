"""From what a write costs to what a large studio takes: plain arithmetic, one line a step. Nothing is measured here."""

import math

DAY = 86_400
MB, GB = 1e6, 1e9
# After so many bytes of batches a new base is made, at most one a minute: ClusterTerm.swift.
BASE_AFTER, BASE_SHARE, BASE_SECONDS = 64 << 20, 0.25, 60
BATCH_MAX = 512
PRIMARY = ("writing", "reading", "sending", "other")

# Each is an option of scale.py: its name, its value, what it means.
ASSUMED = [
    ("players", 1e8, "players, all that there are"),
    ("sockets", 1e6, "sockets that are open at once"),
    ("writes", 1e5, "writes a second at the peak"),
    ("average", 0.2, "average load by the peak's"),
    ("skew", 2, "the busiest store by the average one: what stores and nodes are sized for"),
    ("zones", 3, "zones of which one may be lost at the peak"),
    ("fill", 0.7, "how busy processors may be then"),
    ("cores", 8, "processors a machine"),
    ("memory", 32, "GB of memory a machine"),
    ("days", 7, "days for which the log of commits is kept before it is pruned"),
    ("entries", 5, "rewards of a player that stay"),
    ("deliveries", 2, "listeners that are told of a write"),
    ("delivery", 3.4, "microseconds for each of them: measured by fanout.py, not here"),
    ("handed", 0.5, "clients that come in at the node that follows, of two"),
    ("hot", 0.05, "share of a working copy without its log that should be in memory"),
    ("copy", 50, "GB of a working copy that a node may have to load"),
    ("log", 100, "MB a second of its log that a PostgreSQL primary may write"),
    ("disk", 4, "TB of disk of a PostgreSQL server"),
    ("trip", 0.3, "milliseconds to PostgreSQL and back"),
    ("standby-trip", 0.5, "milliseconds from the primary to a standby in another zone and back"),
    ("sync", 1.0, "milliseconds until a disk has it"),
]


def line(rows, part):
    """What a batch costs, and each write in it: `fixed / b + each` a write is nearest to what was measured, by ratio."""
    weights = [1 / max(1e-9, value(row, part)) ** 2 for row in rows]
    whole = sum(weights)
    places = [1 / max(1, row["batch"]) for row in rows]
    values = [value(row, part) for row in rows]
    middle = sum(w * x for w, x in zip(weights, places)) / whole
    mean = sum(w * y for w, y in zip(weights, values)) / whole
    spread = sum(w * (x - middle) ** 2 for w, x in zip(weights, places))
    slope = sum(w * (x - middle) * (y - mean) for w, x, y in zip(weights, places, values)) / spread if spread else 0
    slope = max(0, slope)
    return slope, max(0, mean - slope * middle)


def value(row, part):
    if part == "primary":
        return sum(row[name] for name in PRIMARY)
    if part == "standby":
        return (row["standby 1"] + row["standby 2"]) / 2
    return row[part]


class Costs:
    """What a write costs in a batch of `b`: by line through the measured points; small and large batches differ."""

    PARTS = ("leader", "follower", "primary", "standby", "writing", "thread", "log", "bytes")

    def __init__(self, figures):
        self.rows = figures["writes"]
        self.lines = {part: line(self.rows, part) for part in self.PARTS}
        self.handing = max(row.get("handing on", 0) for row in self.rows)
        upkeep = figures["upkeep"]
        last = self.rows[-1]
        self.upkeep = {**upkeep, "primary": sum(last[part] * upkeep[part] for part in PRIMARY) / value(last, "primary"),
                       "standby": (upkeep["standby 1"] + upkeep["standby 2"]) / 2}

    def of(self, part, b):
        fixed, each = self.lines[part]
        return self.upkeep[part] * (fixed / max(1, b) + each)

    def cycle(self, b, assumed):
        """Seconds from one batch to the next: trip, work, sync, trip to the standby, its sync; or the busiest thread's own work."""
        waits = (assumed["trip"] + 2 * assumed["sync"] + assumed["standby-trip"]) / 1e3
        return max(waits + b * self.of("writing", b) / 1e6, b * self.of("thread", b) / 1e6)

    def scaled(self, part):
        """What a batch costs and each write in it, in seconds."""
        return tuple(self.upkeep[part] * number / 1e6 for number in self.lines[part])

    def batch(self, rate, assumed):
        """How many writes a batch has at so many a second: as many as come while the one before is written."""
        b = 1.0
        for _ in range(200):
            b = 0.5 * b + 0.5 * min(BATCH_MAX, max(1, rate * self.cycle(b, assumed)))
        return b


def copy_bytes(figures, assumed):
    """What players leave for ever, and what the log of so many days adds, in one copy of everything."""
    disk = figures["disk"]
    stays = assumed["players"] * (disk["player"] + assumed["entries"] * disk["grant"])
    log = assumed["writes"] * assumed["average"] * DAY * assumed["days"] * disk["write"]
    return stays, log


def store_bound(figures, assumed):
    """Writes a second of one store: its busiest thread, as busy as it may be."""
    costs = Costs(figures)
    return assumed["fill"] * min(1e6 / costs.of("thread", 64), BATCH_MAX / costs.cycle(BATCH_MAX, assumed))


def with_stores(stores, figures, assumed):
    """What everything takes with so many stores."""
    costs, base = Costs(figures), figures["base"]
    peak, mean = assumed["writes"], assumed["writes"] * assumed["average"]
    size = sum(copy_bytes(figures, assumed)) / stores
    idle = figures["idle"]
    b, calm = costs.batch(peak / stores, assumed), costs.batch(mean / stores, assumed)
    found = {"stores": stores, "batch": b, "copy": size, "calm": calm}
    after = max(BASE_AFTER, BASE_SHARE * size)
    found["interval"] = max(BASE_SECONDS, after / (mean / stores * costs.of("bytes", calm)))
    busy = max(BASE_SECONDS, after / (peak / stores * costs.of("bytes", b)))
    found["base rate"], base_peak = stores * size / found["interval"], stores * size / busy
    found["leading"] = peak * costs.of("leader", b) / 1e6 + stores * idle["leader"] + base_peak / 2**20 * base["leader"] / 1e6
    found["following"] = peak * costs.of("follower", b) / 1e6 + stores * idle["follower"]
    found["handing"] = peak * assumed["handed"] * costs.handing / 1e6
    found["telling"] = peak * assumed["deliveries"] * assumed["delivery"] / 1e6
    found["node cores"] = sum(found[part] for part in ("leading", "following", "handing", "telling"))
    kb = figures["sockets"]
    found["socket bytes"] = assumed["sockets"] * 1024 * (
        kb["direct"] * (1 - assumed["handed"]) + (kb["through"] + kb["handed on"]) * assumed["handed"])
    found["process bytes"] = stores * 2**20 * (figures["process"]["leader"] + figures["process"]["follower"])
    found["hot bytes"] = 2 * copy_bytes(figures, assumed)[0] * assumed["hot"]
    found["node bytes"] = found["socket bytes"] + found["process bytes"] + found["hot bytes"]
    spare = assumed["zones"] / (assumed["zones"] - 1)
    by_cores = found["node cores"] * assumed["skew"] * spare / (assumed["cores"] * assumed["fill"])
    by_memory = found["node bytes"] * spare / (assumed["memory"] * GB * 0.8)
    found["by cores"], found["by memory"] = math.ceil(by_cores), math.ceil(by_memory)
    found["node machines"] = max(assumed["zones"], found["by cores"], found["by memory"])
    found["primary cores"] = (
        peak * costs.of("primary", b) / 1e6 + stores * sum(idle[part] for part in PRIMARY) + base_peak / 2**20 * base["primary"] / 1e6)
    found["standby cores"] = peak * costs.of("standby", b) / 1e6 + base_peak / 2**20 * base["standby"] / 1e6
    found["log peak"] = peak * costs.of("log", b) + base_peak * base["log"]
    found["log day"] = DAY * (mean * costs.of("log", calm) + found["base rate"] * base["log"])
    found["log day of writes"] = DAY * mean * costs.of("log", calm)
    found["rows"] = assumed["players"] * assumed["entries"] * figures["disk"]["postgres grant"]
    found["bases"] = 2 * base["kept"] * stores * size
    found["batches"] = stores * (2 * after + mean / stores * BASE_SECONDS * costs.of("bytes", calm))
    found["server bytes"] = found["rows"] + found["bases"] + found["batches"]
    found["cells by"] = {
        "processors": math.ceil(found["primary cores"] * assumed["skew"] / (assumed["cores"] * assumed["fill"])),
        "log": math.ceil(found["log peak"] / (assumed["log"] * MB)),
        "disk": math.ceil(found["server bytes"] / (assumed["disk"] * 1e12 * 0.7)),
    }
    found["cells"] = max(found["cells by"].values())
    found["machines"] = found["node machines"] + 3 * found["cells"]
    return found


def fewest(figures, assumed):
    """All numbers of stores that were tried, and the one that takes the fewest machines."""
    least = max(
        math.ceil(assumed["writes"] * assumed["skew"] / store_bound(figures, assumed)),
        math.ceil(sum(copy_bytes(figures, assumed)) / (assumed["copy"] * GB)))
    tried = [with_stores(least * 2**power, figures, assumed) for power in range(8)]
    return tried, min(tried, key=lambda found: (found["machines"], found["stores"]))
