"""A model of many stores on many machines, event by event, seeded: queues of batches, deaths, takeovers. Nothing is measured here.

Each store has one batch on its way and one that grows, as a node has. A batch takes a trip, the backend's work, a sync, a trip to the
standby and its sync, or its node's busiest thread, if that takes longer; both grow where a machine has more to do than it can. A dead
node's stores stop until the other node of each leads; a dead primary's until a standby is promoted; the writes of that time wait, and are
answered behind it.
"""

import heapq
import math
import random
from collections import deque

from scale_arithmetic import BATCH_MAX, Costs

# How fast the histogram's bins grow, and how many writes of a batch are looked at.
BINS, LOOKED_AT = 16, 3
WINDOW = 0.1


class Store:
    """What comes and waits, who leads and follows. `seen`: up to when its writes were drawn; `ready`: from when on it may write."""
    __slots__ = ("rate", "leader", "follower", "cell", "seen", "waiting", "arrived", "answered", "stopped", "term", "ready", "judged",
                 "batch", "batches")


class Machine:
    """A machine with nodes, or a primary: what it is asked to do by what it can, and how much longer everything takes for it."""
    __slots__ = ("zone", "cores", "steady", "work", "busy", "most", "stretch", "lives", "ready", "windows")

    def __init__(self, zone, cores, steady):
        self.zone, self.cores, self.steady = zone, cores, steady
        self.work, self.busy, self.most, self.stretch, self.lives, self.ready, self.windows = 0.0, 0.0, 0.0, 1.0, True, 0.0, 0

    def turn(self):
        """At the end of a window: what was asked for decides how long work takes in the next one."""
        used = min(2.0, (self.work / WINDOW + self.steady) / self.cores)
        self.work = 0.0
        self.windows += 1
        self.busy += used
        # The first second fills what was empty.
        if self.windows > 1 / WINDOW:
            self.most = max(self.most, used)
        queueing = 1 / (1 - min(0.97, used) ** self.cores)
        self.stretch = min(1000, max(queueing, self.stretch * used / 0.95 if used > 0.95 else 1))


class World:
    """`plan`: what with_stores has found. A share of 1/`part` of it is played, with stores, machines and cells in proportion."""

    def __init__(self, figures, assumed, plan, part, load=1.0, seed=1, takeover=5.0, promotion=20.0):
        self.assumed, self.takeover, self.promotion = assumed, takeover, promotion
        self.chance = random.Random(seed)
        costs = Costs(figures)
        self.lines = {name: costs.scaled(name) for name in ("leader", "follower", "primary", "writing", "thread")}
        self.handing = assumed["handed"] * costs.handing / 1e6
        self.telling = assumed["deliveries"] * assumed["delivery"] / 1e6
        zones = int(assumed["zones"])
        machines = max(zones, zones * round(plan["node machines"] / part / zones))
        cells = max(zones, round(plan["cells"] * machines / plan["node machines"]))
        count = max(machines, round(plan["stores"] * machines / plan["node machines"]))
        share = count / plan["stores"]
        # What does not depend on single writes: bases, heartbeats.
        b = plan["batch"]
        steady = share * (plan["leading"] - assumed["writes"] * costs.of("leader", b) / 1e6) / machines
        self.machines = [Machine(number % zones, assumed["cores"], max(0, steady) * load) for number in range(machines)]
        steady = share * (plan["primary cores"] - assumed["writes"] * costs.of("primary", b) / 1e6) / cells
        self.cells = [Machine(number % zones, assumed["cores"], max(0, steady) * load) for number in range(cells)]
        self.sockets = assumed["sockets"] / plan["stores"]
        self.own = assumed["writes"] / assumed["sockets"]
        mean = load * assumed["writes"] / plan["stores"]
        places = list(range(count))
        self.chance.shuffle(places)
        self.stores, self.events = [], []
        for number, place in enumerate(places):
            store = Store()
            # From little to `skew` times the average.
            store.rate = mean * max(0.02, 1 + (assumed["skew"] - 1) * (2 * (place + 0.5) / count - 1))
            store.leader, store.follower, store.cell = number % machines, (number + 1) % machines, number % cells
            store.waiting, store.arrived, store.answered = deque(), 0, 0
            store.stopped, store.term, store.ready, store.judged, store.batch, store.batches = [], 0, 0.0, 0, None, 0
            self.stores.append(store)
            store.seen = self.chance.expovariate(store.rate)
            heapq.heappush(self.events, (store.seen, number, 0, "write"))
        self.bins, self.calm = {}, {}
        self.notices, self.now, self.faults = [], 0.0, 0
        heapq.heappush(self.events, (WINDOW, -1, 0, "window"))

    # What happens

    def poisson(self, mean):
        if mean > 30:
            return max(0, round(self.chance.gauss(mean, math.sqrt(mean))))
        count, product, least = 0, self.chance.random(), math.exp(-mean)
        while product > least:
            count += 1
            product *= self.chance.random()
        return count

    def arrive(self, store):
        """What came since it was last looked."""
        if self.now > store.seen:
            count = self.poisson(store.rate * (self.now - store.seen))
            if count:
                store.arrived += count
                store.waiting.append((store.seen, self.now, count))
            store.seen = self.now

    def begin(self, number):
        """Sends what waits as a batch; is nothing there, the next write begins it."""
        store = self.stores[number]
        self.arrive(store)
        if not store.waiting:
            # Until then nothing comes.
            store.seen = self.now + self.chance.expovariate(store.rate)
            heapq.heappush(self.events, (store.seen, number, store.term, "write"))
            return
        taken, b = [], 0
        while store.waiting and b < BATCH_MAX:
            begun, ended, count = store.waiting.popleft()
            if b + count > BATCH_MAX:
                fits = BATCH_MAX - b
                middle = begun + (ended - begun) * fits / count
                store.waiting.appendleft((middle, ended, count - fits))
                ended, count = middle, fits
            taken.append((begun, ended, count))
            b += count
        store.batch = (taken, b)
        leader, cell = self.machines[store.leader], self.cells[store.cell]
        lines, chance = self.lines, self.chance
        leader.work += lines["leader"][0] + b * (lines["leader"][1] + self.telling)
        follower = self.machines[store.follower]
        follower.work += lines["follower"][0] + b * (lines["follower"][1] + self.handing)
        cell.work += lines["primary"][0] + b * lines["primary"][1]
        # Half of a sync's time always, the rest by chance.
        syncs = self.assumed["sync"] * (1 + chance.expovariate(2) + chance.expovariate(2)) / 1e3
        waits = (self.assumed["trip"] + self.assumed["standby-trip"]) / 1e3 + syncs
        thread = leader.stretch * (lines["thread"][0] + b * lines["thread"][1])
        takes = max(waits + cell.stretch * (lines["writing"][0] + b * lines["writing"][1]), thread)
        store.judged = thread if takes > thread else 0
        heapq.heappush(self.events, (self.now + takes, number, store.term, "done"))

    def finish(self, number):
        store = self.stores[number]
        taken, b = store.batch
        store.batch = None
        store.answered += b
        store.batches += 1
        bins = self.bins if self.faults else self.calm
        for begun, ended, count in taken:
            looked = min(count, LOOKED_AT)
            for _ in range(looked):
                latency = self.now + store.judged - begun - (ended - begun) * self.chance.random()
                place = int(BINS * math.log2(1 + 1e6 * latency))
                bins[place] = bins.get(place, 0) + count / looked
        self.begin(number)

    def stop(self, number, until, leads):
        """Nothing is written until then; what was on its way waits again. `leads`: whether the node that leads lives."""
        store = self.stores[number]
        self.arrive(store)
        store.seen = self.now
        if store.batch:
            store.waiting.extendleft(reversed(store.batch[0]))
            store.batch = None
        until = max(until, store.ready)
        store.stopped.append((self.now, until, leads, self.cells[store.cell].ready > self.now))
        store.term, store.ready = store.term + 1, until
        heapq.heappush(self.events, (until, number, store.term, "batch"))

    def die(self, machines, cells):
        """Machines and primaries die at once."""
        self.faults += 1
        affected, sockets = set(), 0.0
        for cell in cells:
            self.cells[cell].ready = self.now + self.promotion
        for machine in machines:
            self.machines[machine].lives = False
        living = [place for place, machine in enumerate(self.machines) if machine.lives]
        longest = 0.0
        for number, store in enumerate(self.stores):
            lost, cell = not self.machines[store.leader].lives, self.cells[store.cell]
            until = cell.ready if cell.ready > self.now else 0
            if lost:
                if not self.machines[store.follower].lives:
                    raise AssertionError("both nodes of a store died at once: they are in different zones")
                # Heard of for 5 s, looked for once a second, led by another within 0.2 s.
                until = max(self.now + self.takeover + self.chance.random() + 0.2, until and until + 1)
                store.leader = store.follower
            if store.leader == store.follower or not self.machines[store.follower].lives:
                zone = self.machines[store.leader].zone
                others = [place for place in living if place != store.leader and self.machines[place].zone != zone] or living
                store.follower = self.chance.choice(others)
                sockets += 0 if lost else self.sockets * self.assumed["handed"]
            if until:
                self.stop(number, until, leads=not lost)
                affected.add(number)
                longest = max(longest, until - self.now)
                # Who was connected is cut off with its node; who was not notices if it writes.
                sockets += self.sockets * (1 if lost else 1 - math.exp(-self.own * (until - self.now)))
        self.notices.append({"at": self.now, "stores": len(affected), "longest": longest, "players": sockets})

    def run(self, seconds, faults=()):
        for at, machines, cells in faults:
            heapq.heappush(self.events, (at, -2, 0, (machines, cells)))
        while self.events and self.events[0][0] <= seconds:
            self.now, number, term, kind = heapq.heappop(self.events)
            if number == -1:
                for machine in self.machines + self.cells:
                    if machine.lives:
                        machine.turn()
                heapq.heappush(self.events, (self.now + WINDOW, -1, 0, "window"))
            elif number == -2:
                self.die(*kind)
            elif term == self.stores[number].term:
                if kind == "write":
                    store = self.stores[number]
                    store.seen, store.arrived = self.now, store.arrived + 1
                    store.waiting.append((self.now, self.now, 1))
                self.finish(number) if kind == "done" else self.begin(number)
        self.now = seconds
        for store in self.stores:
            self.arrive(store)
        return self

    # What is held, and what is seen

    def check(self, longest):
        """Nothing is lost or made up; no store is without a node that leads for longer than so many seconds while its PostgreSQL lives."""
        for store in self.stores:
            waits = sum(count for _, _, count in store.waiting) + (store.batch[1] if store.batch else 0)
            assert store.arrived == store.answered + waits, (store.arrived, store.answered, waits)
            assert store.leader != store.follower and self.machines[store.leader].lives
            for begun, ended, leads, cell_down in store.stopped:
                bound = longest + (self.promotion + 1 if cell_down else 0)
                assert leads or ended - begun <= bound, (ended - begun, bound)

    @staticmethod
    def share(bins, part):
        """Seconds below which so large a part of the latencies is."""
        whole, reached = sum(bins.values()), 0
        for place in sorted(bins):
            reached += bins[place]
            if reached >= part * whole:
                return (2 ** ((place + 1) / BINS) - 1) / 1e6
        return float("nan")

    def seen(self, seconds):
        bins = self.calm or self.bins
        arrived, answered = sum(s.arrived for s in self.stores), sum(s.answered for s in self.stores)

        def busy(parts):
            return sum(part.busy for part in parts) / max(1, sum(part.windows for part in parts)), max(part.most for part in parts)

        fixed, each = self.lines["thread"]
        threads = [(store.batches * fixed + store.answered * each) / seconds for store in self.stores]
        return {"nodes": busy(self.machines), "primaries": busy(self.cells), "thread": max(threads), "p50": self.share(bins, 0.5),
                "p99": self.share(bins, 0.99), "writes": answered / seconds, "answered": answered / max(1, arrived)}


def faults_of(world):
    """A node's machine, a primary and a zone die, far enough from each other to be told apart; and how long all of it takes."""
    zones = int(world.assumed["zones"])
    lost = zones - 1
    machines = [place for place, machine in enumerate(world.machines) if machine.zone == lost]
    cells = [place for place, cell in enumerate(world.cells) if cell.zone == lost]
    second, third = 6 + world.takeover + 4, 6 + world.takeover + 4 + world.promotion + 6
    return [(6, machines[:1], []), (second, [], [0]), (third, machines[1:], cells)], third + world.promotion + world.takeover + 6


def simulate(figures, assumed, plan, options):
    """Faults at the load, then the load doubled again and again without any. What was seen of each."""
    # So many events that a minute is enough: a share of everything is played.
    part = max(1.0, assumed["writes"] / plan["batch"] / options.events)
    world = World(figures, assumed, plan, part, 1.0, options.random, options.takeover, options.promotion)
    faults, seconds = faults_of(world)
    world.run(seconds, faults)
    world.check(options.takeover + 2)
    found = {"part": part, "stores": len(world.stores), "machines": len(world.machines), "cells": len(world.cells), "seconds": seconds,
             "whole": plan["stores"] / len(world.stores), "busiest": max(machine.most for machine in world.machines),
             "faults": world.notices, "writes": sum(store.answered for store in world.stores),
             "p99": World.share(world.bins, 0.99), "p50": World.share(world.bins, 0.5)}
    found["loads"] = []
    for load in (1, 2, 4, 8):
        world = World(figures, assumed, plan, part, load, options.random, options.takeover, options.promotion).run(3)
        world.check(options.takeover + 2)
        found["loads"].append((load, world.seen(3)))
    return found
