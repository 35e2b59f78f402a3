"""Faults of a cluster under players, in an order that a seed gives: nodes and servers are killed, frozen, cut off and started again, and
after each fault the players go on.
"""

import os
import random
import signal
import subprocess
import time

from cluster_nodes import NAMESPACE, compare, register_end
from full_disk import until
from server import Connection, Down

# A node that is not heard of is followed by another after five seconds, and by then it tells nothing any more.
TAKEOVER = 7.5


class Faults:
    """Faults one after the other, each at a cluster in which all is well."""

    # How often each is among twenty. Those of the leading node cost the five seconds in which nobody may lead.
    DECK = {
        "kill_leader": 3, "end_leader": 1, "hand_over": 1, "freeze_leader": 1, "part_leader": 1, "kill_follower": 2, "end_follower": 1,
        "freeze_follower": 1, "part_follower": 1, "cut_wires": 1, "end_sessions": 1, "restart_standby": 2, "restart_primary": 1,
        "kill_primary": 1, "promote_late": 1, "spoil_copy": 1,
    }

    def __init__(self, cluster, checks, players, seed):
        self.cluster, self.cell, self.players = cluster, cluster.cell, players
        self._checks = checks
        self._chance = random.Random(seed)
        self._number = 0

    def play(self, count):
        """So many faults; what was acknowledged is compared after every twenty, and at the end."""
        deck = []
        while self._number < count:
            if not deck:
                deck = [name for name, times in self.DECK.items() for _ in range(times)]
                self._chance.shuffle(deck)
            self._number += 1
            name, before = deck.pop(), time.monotonic()
            if not self.check("all nodes serve, one leads, both standbys follow", until(self._is_whole, 60)):
                return
            getattr(self, name)()
            print(f"        fault {self._number}, {name}: {time.monotonic() - before:.1f} s", flush=True)
            if not deck and self._number < count:
                self.players.stop()
                compare(self.cluster, self._checks, self.players, f"after {self._number} faults")
                self.players.start()
        self.check("afterwards all nodes serve, one leads, both standbys follow", until(self._is_whole, 60))

    def check(self, sentence, holds, detail=""):
        return self._checks.check(f"fault {self._number}: {sentence}", holds, detail)

    def _is_whole(self):
        try:
            if any(self.cluster.ask(node, "GET", f"/from.json?{NAMESPACE}", timeout=3).status != 200 for node in self.cluster.nodes):
                return False
        except Down:
            return False
        following = self.cell.ask("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")
        return following == "2" and self.cluster.leader() is not None

    def _leader(self):
        """The node that leads, and the others."""
        leader = self.cluster.leader()
        return leader, [node for node in self.cluster.nodes if node is not leader]

    def _follower(self):
        """Any node that does not lead, and the others."""
        follower = self._chance.choice(self._leader()[1])
        return follower, [node for node in self.cluster.nodes if node is not follower]

    def _go_on(self, what, within, nodes=None):
        """A write through these nodes is acknowledged in time, and the players' go on."""
        took = self.cluster.await_write(f"fault{self._number}", nodes, seconds=30)
        steps = self.players.steps
        self.check(f"{what}: a write is acknowledged after {took or 999:.1f} s", took is not None and took < within)
        self.check("the players go on", until(lambda: self.players.steps > steps, 30))

    def _said(self, node, key, rounds, timeout):
        """What a node tells of a key, and nothing where it refuses or is silent."""
        told = []
        for _ in range(rounds):
            try:
                answer = self.cluster.ask(node, "GET", f"/{key}.json?{NAMESPACE}", timeout=timeout)
                told += [answer.json] if answer.status == 200 else []
            except Down:
                pass
        return told

    # The leading node.

    def kill_leader(self):
        leader, others = self._leader()
        place = f"/online{self._number}"
        # One is lost with the node, one comes back.
        clients = [register_end(node, f"{place}/{name}", False) for node, name in ((leader, "lost"), (others[0], "back"))]
        leader.kill()
        self._go_on("the leading node is killed", TAKEOVER, others)
        self.cluster.insist(others[0], "PUT", f"{place}/back.json?{NAMESPACE}", True)
        found = until(lambda: self.cluster.insist(others[1], "GET", f"{place}.json?{NAMESPACE}").json == {"lost": False, "back": True}, 10)
        self.check("who was lost with it is offline, who came back is not", found,
                   self.cluster.insist(others[1], "GET", f"{place}.json?{NAMESPACE}").text)
        for client in clients:
            client.close()
        leader.start()

    def end_leader(self):
        leader, others = self._leader()
        leader.signal(signal.SIGTERM)
        self._go_on("the leading node is ended in order", 3, others)
        code = leader.process.wait(60)
        self.check("its exit code is 0", code == 0, f"{code}")
        leader.start()

    def hand_over(self):
        """Another node is asked to lead; how long nobody answers is seen through the third."""
        leader, others = self._leader()
        wanted, third = self._chance.sample(others, 2)
        command = subprocess.Popen(
            [leader.program, "cluster", "move", wanted.name(), "--postgres", self.cell.url()], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        last, gap = time.monotonic(), 0
        while command.poll() is None or time.monotonic() < last + 0.1:
            try:
                if self.cluster.ask(third, "PUT", f"/handed.json?{NAMESPACE}", self._number, timeout=3).status == 200:
                    gap, last = max(gap, time.monotonic() - last), time.monotonic()
            except Down:
                pass
            time.sleep(0.005)
            if command.poll() is not None and self.cluster.leader() is wanted and last > time.monotonic() - 0.05:
                break
        said = command.communicate()[0]
        self.check("the node leads that was asked to", command.returncode == 0 and self.cluster.leader() is wanted, said[-300:])
        self._go_on(f"nobody answered for {gap * 1000:.0f} ms", 2, others)
        self.check("that is short", gap < 1, f"{gap}")
        self.check("the node that led follows", leader.process.poll() is None)

    def freeze_leader(self):
        """It stands still for longer than others wait, and then goes on as if nothing had been."""
        leader, others = self._leader()
        kept = Connection(leader.port, timeout=30)
        kept.ask("PUT", f"/frozen.json?{NAMESPACE}", "old")
        leader.signal(signal.SIGSTOP)
        self._go_on("the leading node stands still", TAKEOVER, others)
        self.cluster.insist(others[0], "PUT", f"/frozen.json?{NAMESPACE}", "new")
        leader.signal(signal.SIGCONT)
        told, written = [], []
        for number in range(40):
            try:
                answer = kept.ask("GET", f"/frozen.json?{NAMESPACE}")
                if answer.status == 200:
                    told.append(answer.json)
                if kept.ask("PUT", f"/late{self._number}.json?{NAMESPACE}", number).status == 200:
                    found = self.cluster.insist(others[0], "GET", f"/late{self._number}.json?{NAMESPACE}").json
                    written += [] if found == number else [(number, found)]
            except Down:
                pass
            time.sleep(0.02)
        kept.close()
        self.check("it tells nothing old when it goes on", "old" not in told, f"{told[:5]}")
        self.check("nor does it acknowledge what is not so", not written, f"{written[:5]}")
        # A reader whose request came while it stood still is the one that it would tell.
        self.check("it hands clients on, and no process ended",
                   self.cluster.insist(leader, "GET", f"/frozen.json?{NAMESPACE}").json == "new" and leader.process.poll() is None)

    def part_leader(self):
        """It hears nothing of PostgreSQL any more, and nobody tells it that."""
        leader, others = self._leader()
        self.cluster.insist(leader, "PUT", f"/parted.json?{NAMESPACE}", "old")
        leader.wire.is_silent = True
        self._go_on("the leading node hears nothing of PostgreSQL", TAKEOVER, others)
        self.cluster.insist(others[0], "PUT", f"/parted.json?{NAMESPACE}", "new")
        told = self._said(leader, "parted", rounds=8, timeout=0.5)
        self.check("it tells nothing old", "old" not in told, f"{told[:5]}")
        leader.wire.is_silent = False
        answer = self.cluster.insist(leader, "GET", f"/parted.json?{NAMESPACE}", seconds=60)
        self.check("it hands clients on when it hears again", answer.json == "new", answer.text[:100])

    def cut_wires(self):
        """The connections between the leading node and PostgreSQL break while batches are on their way: what became of each is found
        out."""
        leader, _ = self._leader()
        term, cut = self.cell.ask("SELECT fence FROM doubloon.lease"), 0
        for _ in range(25):
            time.sleep(self._chance.random() * 0.2)
            cut += leader.wire.cut()
        self._go_on(f"{cut} connections break under batches", 3)
        self.check("some did, and the same node leads on", cut > 0 and self.cell.ask("SELECT fence FROM doubloon.lease") == term)

    # The others.

    def kill_follower(self):
        follower, others = self._follower()
        follower.kill()
        self._go_on("a node that follows is killed", 2, others)
        follower.start()

    def end_follower(self):
        follower, others = self._follower()
        follower.signal(signal.SIGTERM)
        self._go_on("a node that follows is ended in order", 2, others)
        code = follower.process.wait(60)
        self.check("its exit code is 0", code == 0, f"{code}")
        follower.start()

    def freeze_follower(self):
        follower, others = self._follower()
        follower.signal(signal.SIGSTOP)
        begin = time.monotonic()
        self._go_on("a node that follows stands still", 2, others)
        self.cluster.insist(others[0], "PUT", f"/frozen.json?{NAMESPACE}", self._number)
        time.sleep(max(0, begin + 6 - time.monotonic()))
        follower.signal(signal.SIGCONT)
        found = self.cluster.insist(follower, "GET", f"/frozen.json?{NAMESPACE}").json
        self.check("after six seconds it goes on, and shows what was written meanwhile", found == self._number, f"{found}")

    def part_follower(self):
        follower, others = self._follower()
        follower.wire.is_silent = True
        self._go_on("a node that follows hears nothing of PostgreSQL", 2, others)
        self.cluster.insist(others[0], "PUT", f"/parted.json?{NAMESPACE}", self._number)
        told = self._said(follower, "parted", rounds=4, timeout=0.5)
        self.check("it tells nothing old", all(value == self._number for value in told), f"{told}")
        follower.wire.is_silent = False
        found = self.cluster.insist(follower, "GET", f"/parted.json?{NAMESPACE}").json
        self.check("it shows what was written meanwhile", found == self._number, f"{found}")

    def spoil_copy(self):
        """A copy that is no copy is thrown away, and made again."""
        node, _ = self._follower()
        node.kill()
        before = len(node.text())
        for ending in ("-wal", "-shm"):
            if os.path.exists(os.path.join(node.folder, "doubloon.db" + ending)):
                os.remove(os.path.join(node.folder, "doubloon.db" + ending))
        with open(os.path.join(node.folder, "doubloon.db"), "r+b") as file:
            file.seek(100)
            file.write(self._chance.randbytes(200_000))
        node.start()
        until(lambda: "loaded a working copy" in node.text()[before:], 30)
        text = node.text()[before:]
        self.check("a spoiled copy is made again", "the working copy is made again" in text and node.process.poll() is None, text[-300:])
        leader = self.cluster.leader()
        other = next(one for one in self.cluster.nodes if one not in (node, leader))
        other.kill()
        leader.signal(signal.SIGTERM)
        leader.process.wait(60)
        self._go_on("the node leads with it", 3, [node])
        for one in (leader, other):
            one.start()

    # PostgreSQL.

    def end_sessions(self):
        """As an administrator of PostgreSQL may do."""
        term = self.cell.ask("SELECT fence FROM doubloon.lease")
        ended = self.cell.ask("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'doubloon'")
        self._go_on(f"PostgreSQL ends {ended} sessions", 3)
        self.check("the same node leads on", int(ended or 0) > 2 and self.cell.ask("SELECT fence FROM doubloon.lease") == term, f"{ended}")

    def restart_standby(self):
        standby = self._chance.choice([number for number in range(3) if number != self.cell.primary])
        self.cell.stop(standby, self._chance.choice(["fast", "immediate"]))
        self._go_on("a standby is away", 3)
        self.cell.start(standby)

    def restart_primary(self):
        self.cell.stop(self.cell.primary, self._chance.choice(["fast", "immediate"]))
        self.cell.start(self.cell.primary)
        self._go_on("the primary was started again", 10)

    def kill_primary(self):
        """A standby is promoted; the dead server follows it later, from a copy: its log may have what no standby has."""
        dead = self.cell.kill_primary()
        self._go_on("the primary was killed and a standby promoted", 10)
        self.cell.rebuild(dead)

    def promote_late(self):
        """As Patroni does it: while it looks nobody takes writes, and then for a moment no standby follows who does. Beats of the nodes
        are on their way all the time."""
        begin = time.monotonic()
        dead = self.cell.kill_primary(late=self._chance.uniform(2, 3.5), alone=self._chance.uniform(1, 2.5))
        down = time.monotonic() - begin
        self._go_on(f"the primary was killed and a standby promoted {down:.1f} s later", 10)
        self.cell.rebuild(dead)
