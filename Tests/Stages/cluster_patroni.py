"""Three nodes and a PostgreSQL that Patroni looks after: its primary dies, is switched over and loses its Patroni, under players."""

import os
import signal
import subprocess
import time

from cluster_nodes import Cluster, Players, compare
from full_disk import until
from patroni_cell import PatroniCell


def patroni(program, folder, checks, *, is_long):
    """What a machine's death, a switchover and, where there is time, a frozen Patroni mean to players."""
    servers = os.path.join(folder, "patroni")
    os.makedirs(servers)
    cell = PatroniCell(servers)
    # As in production: the nodes are told of all servers, and look for the one that takes writes.
    cluster = Cluster(program, folder, cell, names=("p0", "p1", "p2"), wired=False)
    try:
        checks.check("Patroni starts three servers, one of which is there for what is acknowledged", until(cell.is_whole, 60), cell.log())
        for node in cluster.nodes:
            node.start()
        checks.check("Patroni: three nodes serve", cluster.await_write("begin") is not None)
        players = Players(cluster)
        players.start()
        play = Play(cluster, checks, players)
        play.kill_postgres()
        play.switch_over()
        play.kill_machine()
        if is_long:
            play.freeze_patroni()
        # What each server could lose is asked at the end, when all of it has happened.
        checks.check("Patroni: three servers are as they were", until(cell.is_whole, 60), cell.log())
        ended = [node.text()[-300:] for node in cluster.nodes if node.process.poll() is not None]
        checks.check("Patroni: no node has ended", not ended, f"{ended}")
        status = subprocess.run([program, "cluster", "status", "--postgres", cell.url()], capture_output=True, text=True, timeout=60)
        checks.check("Patroni: cluster status says that nothing could be lost", status.returncode == 0, status.stdout + status.stderr)
        players.stop()
        compare(cluster, checks, players, "with Patroni")
    finally:
        for node in cluster.nodes:
            node.kill()
        if checks.failed:
            print(cell.log(), flush=True)
        cell.close()


class Play:
    """What happens to the servers, each time when all three are there."""

    def __init__(self, cluster, checks, players):
        self.cluster, self.cell, self.checks, self.players = cluster, cluster.cell, checks, players
        self._writes = 0

    def _write(self):
        self._writes += 1
        return self.cluster.await_write(f"patroni{self._writes}", seconds=90) or 999

    def _longest(self, is_over, seconds=90):
        """The longest time that a write took from now until this is so, and behind it; and whether it came to be so."""
        end, longest, came = time.monotonic() + seconds, 0, False
        while not came and time.monotonic() < end:
            longest = max(longest, self._write())
            came = is_over()
        return max(longest, self._write()), came

    def _other_leads(self, before):
        """Whether another process than this one takes writes."""
        return lambda: self.cell.term() not in (None, before)

    def _judge(self, what, gap, came, within):
        steps = self.players.steps
        self.checks.check(f"Patroni: {what}: writes wait for {gap:.1f} s", came and gap <= within, f"another server: {came}")
        self.checks.check(f"Patroni: {what}: the players go on", until(lambda: self.players.steps > steps, 30))

    def _await_all(self):
        self.checks.check("Patroni: all three servers are there", until(self.cell.is_whole, 60), self.cell.log())
        return self.cell.term()

    def kill_postgres(self):
        before = self._await_all()
        self.cell.kill(before[0])
        gap, came = self._longest(self._other_leads(before))
        self._judge("the primary is killed", gap, came, 10)

    def switch_over(self):
        before = self._await_all()
        command = self.cell.switch_over()
        gap, came = self._longest(lambda: command.poll() is not None and self._other_leads(before)())
        self._judge("a planned switchover", gap, came and command.poll() == 0, 5)

    def kill_machine(self):
        before = self._await_all()
        self.cell.kill(before[0], with_patroni=True)
        gap, came = self._longest(self._other_leads(before))
        self._judge("the primary is killed, and its Patroni with it", gap, came, 35)
        self.cell.start(before[0])

    def freeze_patroni(self):
        """Its server goes on as a primary, beside another that is promoted: it acknowledges nothing, for no standby follows it."""
        before = self._await_all()
        self.cell.ask("CREATE TABLE IF NOT EXISTS stray (one INT)")
        self.cell.signal_patroni(before[0], signal.SIGSTOP)
        try:
            came = until(self._other_leads(before), 60)
            self.checks.check("Patroni: its Patroni stands still: another server is promoted", came, self.cell.log())
            self.checks.check("Patroni: the first takes writes still, by its own account",
                              self.cell.ask("SELECT pg_is_in_recovery()", before[0]) == "f")
            self.checks.check("Patroni: but acknowledges none", not self._is_acknowledged(before[0]))
        finally:
            self.cell.signal_patroni(before[0], signal.SIGCONT)
        begin = time.monotonic()
        gap = self._write()
        self._judge("its Patroni goes on, and makes it a standby", gap, self.cell.term() not in (None, before), 35)
        print(f"        {time.monotonic() - begin:.1f} s after it went on", flush=True)

    def _is_acknowledged(self, number):
        try:
            return self.cell.ask("INSERT INTO stray VALUES (1) RETURNING one", number, timeout=4) is not None
        except subprocess.TimeoutExpired:
            return False
