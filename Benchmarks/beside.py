#!/usr/bin/env python3
"""The referral lifecycle against Doubloon, and against PostgreSQL with a trigger that does the same, in turns.

    Scripts/test release
    Benchmarks/beside.py                                   # 16 and 64 clients, five rounds of each, about five minutes
    Benchmarks/beside.py --rounds 2 --seconds 3            # a moment of each
    Benchmarks/beside.py --pocketbase ~/bin/pocketbase     # PocketBase takes part

Every run begins on empty data of its own, on the disk. A round asks each server in its turn: the machine's speed drifts, the ratio
of neighbours much less. A run with a wrong balance, a lost or a doubled reward ends the benchmark. PostgreSQL takes part where
its server is installed (Debian: postgresql), with its settings as they come; all acknowledge what is on the disk, but PocketBase,
which is asked as it comes as well. CPU is the server's, all its processes together; instructions are there where perf counts them.
"""

import argparse
import glob
import json
import os
import pwd
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Stages"))
from serving import free_port  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
POCKETBASE_TABLE = """
migrate((app) => {
  const open = { listRule: "", viewRule: "", createRule: "", updateRule: "" }
  app.save(new Collection({
    type: "base", name: "players", ...open,
    fields: [
      { type: "text", name: "name" }, { type: "text", name: "referred_by" }, { type: "number", name: "last_signin_at" },
      { type: "number", name: "level" }, { type: "number", name: "pieces_of_eight" },
    ],
  }))
}, (app) => app.delete(app.findCollectionByNameOrId("players")))
"""
POCKETBASE_HOOK = """
onRecordAfterUpdateSuccess((e) => {
  const before = e.record.original(), referrer = e.record.getString("referred_by")
  const pay = (id) => e.app.db().newQuery("UPDATE players SET pieces_of_eight = pieces_of_eight + 50 WHERE id = {:id}")
    .bind({ id }).execute()
  if (referrer && !before.getInt("last_signin_at") && e.record.getInt("last_signin_at")) pay(e.record.id)
  if (referrer && before.getInt("level") === 4 && e.record.getInt("level") === 5) pay(referrer)
  e.next()
}, "players")
"""


class Peer:
    """A server on empty data, as a process whose descendants are its own; `kind` is the driver's word for it."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind

    def prepare(self, folder, port):
        """Makes what has to be there first."""

    def command(self, folder, port):
        raise NotImplementedError

    def begin(self, folder, port):
        """What is done once it answers."""

    def end(self):
        """What is done before it is stopped."""


class Doubloon(Peer):
    def __init__(self, program, kind):
        super().__init__(f"doubloon {kind}", kind)
        self.program = program

    def command(self, folder, port):
        return [self.program, "dev", "--port", str(port), "--data", f"{folder}/data"]


class PostgreSQL(Peer):
    """As its package installs it; a superuser's process it refuses to be."""

    def __init__(self, programs):
        super().__init__("postgresql", "postgres")
        self.programs = programs
        self.user = next((one.pw_name for one in pwd.getpwall() if one.pw_name == "postgres"), "nobody")

    def _as_user(self, *words):
        if os.geteuid() != 0:
            return list(words)
        return ["setpriv", f"--reuid={self.user}", f"--regid={pwd.getpwnam(self.user).pw_gid}", "--clear-groups", *words]

    def prepare(self, folder, port):
        if os.geteuid() == 0:
            os.chmod(folder, 0o755)
            os.makedirs(f"{folder}/data")
            shutil.chown(f"{folder}/data", self.user)
        subprocess.run(
            self._as_user(f"{self.programs}/initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "postgres", "-E", "UTF8",
                          "--locale=C.UTF-8"), check=True, stdout=subprocess.DEVNULL, cwd="/")

    def command(self, folder, port):
        return self._as_user(f"{self.programs}/postgres", "-D", f"{folder}/data", "-p", str(port), "-k", f"{folder}/data",
                             "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200")

    def begin(self, folder, port):
        subprocess.run(
            [f"{self.programs}/psql", "-qX", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres",
             "-f", f"{HERE}/beside.sql"], check=True, stderr=subprocess.DEVNULL)


class PocketBase(Peer):
    def __init__(self, program):
        super().__init__("pocketbase", "pocketbase")
        self.program = os.path.abspath(program)

    def prepare(self, folder, port):
        for place, text in (("pb_migrations/1_players.js", POCKETBASE_TABLE), ("pb_hooks/reward.pb.js", POCKETBASE_HOOK)):
            os.makedirs(os.path.dirname(f"{folder}/{place}"))
            with open(f"{folder}/{place}", "w") as file:
                file.write(text)

    def command(self, folder, port):
        return [self.program, "serve", "--http", f"127.0.0.1:{port}", "--dir", f"{folder}/data", "--hooksDir", f"{folder}/pb_hooks",
                "--migrationsDir", f"{folder}/pb_migrations"]


class Run:
    """A peer on data of its own: started, loaded, measured, stopped."""

    def __init__(self, peer, options):
        self.peer, self.options = peer, options
        self.folder = tempfile.mkdtemp(prefix="beside-", dir=options.folder)
        self.port = free_port()
        peer.prepare(self.folder, self.port)
        words = peer.command(self.folder, self.port)
        self.counts = f"{self.folder}/instructions.txt"
        if options.perf:
            words = ["perf", "stat", "-x", ";", "-e", "instructions:u", "-o", self.counts, "--", *words]
        self.log = open(f"{self.folder}/log.txt", "w")
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)

    def await_answer(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if self._listens():
                try:
                    return self.peer.begin(self.folder, self.port)
                except subprocess.CalledProcessError:
                    pass  # it listens before it is ready
            time.sleep(0.1)
        with open(self.log.name) as file:
            raise SystemExit(f"{self.peer.name} did not start; it said:\n{file.read()[-2000:]}")

    def _listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def load(self, clients):
        words = [self.options.driver, self.peer.kind, "--port", str(self.port), "--clients", str(clients), "--seed",
                 "--seconds", str(self.options.seconds), "--warm-up", str(min(2, self.options.seconds))]
        said = subprocess.run(words + (["--random"] if self.options.random else []), capture_output=True, text=True)
        if said.returncode:
            raise SystemExit(f"{self.peer.name} with {clients} clients: {said.stdout}{said.stderr}")
        return json.loads(said.stdout)

    def memory(self):
        """MB that the process and its descendants hold, shared pages divided among those who share them."""
        kilobytes = 0
        for path in glob.glob("/proc/[0-9]*/smaps_rollup"):
            try:
                if os.getsid(int(path.split("/")[2])) == self.process.pid:
                    with open(path) as file:
                        kilobytes += sum(int(line.split()[1]) for line in file if line.startswith("Pss:"))
            except OSError:
                continue
        return kilobytes / 1024

    def stop(self):
        """Seconds of CPU of all its processes, and instructions of their own code, where they were counted."""
        if self.options.perf:
            # perf waits for its child, and writes what it has counted when that ends.
            subprocess.run(["pkill", "-TERM", "-P", str(self.process.pid)])
        else:
            self.process.terminate()
        _, _, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = 0
        self.log.close()
        instructions = None
        if self.options.perf and os.path.exists(self.counts):
            with open(self.counts) as file:
                found = [line.split(";")[0] for line in file if "instructions" in line]
            instructions = int(found[0]) if found and found[0].isdigit() else None
        return usage.ru_utime + usage.ru_stime, instructions

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def disk(folder):
    """MB in a folder, as the disk counts them."""
    return sum(os.lstat(os.path.join(place, name)).st_blocks for place, _, names in os.walk(folder) for name in names) / 2048


def measured(peer, clients, options):
    run = Run(peer, options)
    try:
        run.await_answer()
        result = run.load(clients)
        result["memory"] = run.memory()
        result["disk"] = disk(f"{run.folder}/data") if os.path.isdir(f"{run.folder}/data") else 0
        peer.end()
    except BaseException:
        run.process.kill()
        raise
    cpu, instructions = run.stop()
    result["cpu"] = 1e6 * cpu / max(1, result["lifecycles"])
    result["instructions"] = instructions and instructions / max(1, result["lifecycles"]) / 1000
    result["disk"] = 1024 * result["disk"] / max(1, result["lifecycles"])
    run.remove()
    return result


def spread(values, form="{:,.0f}"):
    return f"{form.format(statistics.median(values))} ({form.format(min(values))}-{form.format(max(values))})"


def told(peer, clients, results, first):
    rates = [one["lifecyclesPerSecond"] for one in results]
    ratios = [mine["lifecyclesPerSecond"] / rate for mine, rate in zip(first, rates)]
    instructions = [one["instructions"] for one in results if one["instructions"]]
    print(f"  {peer.name:16} {spread(rates):>24}/s  write p50 {spread([one['writeP50'] for one in results], '{:.2f}')} "
          f"p99 {spread([one['writeP99'] for one in results], '{:.1f}')} ms  CPU {spread([one['cpu'] for one in results])} µs"
          + (f"  {spread(instructions)} thousand instructions" if instructions else "")
          + f"  {statistics.median(one['memory'] for one in results):.0f} MB"
          + f"  {statistics.median(one['disk'] for one in results):.1f} KB of disk a player"
          + ("" if results is first else f"  Doubloon / it {spread(ratios, '{:.2f}')}"), flush=True)


def compared(pair, options, mark):
    """Two in turns; what the first computes for each lifecycle beside the second is told, with its mark."""
    results = {peer: [] for peer in pair}
    for number in range(options.rounds):
        for peer in pair if number % 2 == 0 else reversed(pair):
            results[peer].append(measured(peer, options.clients, options))
    print(f"lifecycle  {options.clients} clients, {options.rounds} rounds; medians (from-to)")
    for peer in pair:
        told(peer, options.clients, results[peer], results[pair[0]])
    ratios = [mine["cpu"] / its["cpu"] for mine, its in zip(results[pair[0]], results[pair[1]])]
    print(f"lifecycle  CPU of \"{pair[0].name}\" by \"{pair[1].name}\": {statistics.median(ratios):.3f} "
          f"({min(ratios):.3f}-{max(ratios):.3f}); mark: {mark}", flush=True)


def peers(options):
    found = [Doubloon(options.program, "rest")]
    if options.socket:
        found.append(Doubloon(options.program, "socket"))
    servers = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
    if servers:
        found.append(PostgreSQL(os.path.dirname(servers[-1])))
    else:
        print("PostgreSQL's server is not installed; apt-get install postgresql brings it.")
    if options.pocketbase:
        found.append(PocketBase(options.pocketbase))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=".build/release/doubloon")
    parser.add_argument("--driver", default=".build/release/lifecycle")
    parser.add_argument("--clients", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--random", action="store_true", help="players' names are spread, not ascending")
    parser.add_argument("--socket", action="store_true", help="Doubloon over the socket, too")
    parser.add_argument("--pocketbase", help="its program")
    parser.add_argument("--perf", action="store_true", help="count instructions, by perf")
    parser.add_argument("--folder", default=".build", help="where the data are: on the disk where yours would be")
    options = parser.parse_args()
    options.program, options.driver = os.path.abspath(options.program), os.path.abspath(options.driver)
    options.folder = os.path.abspath(options.folder)
    for program in (options.program, options.driver):
        if not os.path.exists(program):
            raise SystemExit(f"There is no {program}: Scripts/test release benchmarks makes both.")
    everybody = peers(options)
    for clients in options.clients:
        results = {peer: [] for peer in everybody}
        for number in range(options.rounds):
            for peer in everybody if number % 2 == 0 else reversed(everybody):
                results[peer].append(measured(peer, clients, options))
        print(f"{clients} clients, {options.rounds} rounds; medians (from-to)")
        for peer in everybody:
            told(peer, clients, results[peer], results[everybody[0]])


if __name__ == "__main__":
    main()
