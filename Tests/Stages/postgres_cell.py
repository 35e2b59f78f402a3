"""A PostgreSQL primary with two synchronous standbys, in a folder of its own: started, killed, promoted. Debian's packages only."""

import contextlib
import glob
import os
import random
import shutil
import signal
import socket
import subprocess
import time


_given = set()


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_port():
    """A port that nobody has, below those that the system gives to outgoing connections: it stays free until a server takes it."""
    while True:
        port = random.randrange(15_000, 30_000)
        if port not in _given and is_free(port):
            _given.add(port)
            return port


def as_postgres():
    """What a command begins with that root starts: PostgreSQL refuses to run as root."""
    return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.geteuid() == 0 else []


class Servers:
    """PostgreSQL servers on this machine, one of which takes writes."""

    primary = 0

    def __init__(self, ports, folder=None):
        self.ports = ports
        self.folder = folder
        self._user = as_postgres()
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[-2]))
        self._programs = found[-1]

    def url(self):
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        return f"postgresql://postgres@{hosts}/postgres"

    def data(self, number):
        return os.path.join(self.folder, f"server{number}")

    def stop(self, number, mode="immediate"):
        if os.path.exists(os.path.join(self.data(number), "postmaster.pid")):
            subprocess.run([*self._user, os.path.join(self._programs, "pg_ctl"), "-D", self.data(number), "-m", mode, "-w", "stop"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)

    def postmaster(self, number):
        with open(os.path.join(self.data(number), "postmaster.pid")) as file:
            return int(file.readline())

    def is_up(self, number):
        try:
            with socket.create_connection(("127.0.0.1", self.ports[number]), timeout=2):
                return True
        except OSError:
            return False

    def ask(self, sql, number=None, timeout=30):
        """The first column of the first row; None if there is no answer."""
        port = self.ports[self.primary if number is None else number]
        found = subprocess.run(
            [os.path.join(self._programs, "psql"), "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-d", "postgres", "-Atc", sql],
            capture_output=True, text=True, timeout=timeout)
        return found.stdout.strip().split("\n")[0] if found.returncode == 0 and found.stdout.strip() else None

    @contextlib.contextmanager
    def holding(self, sql):
        """A transaction that has done this stays open meanwhile, and is undone."""
        port = self.ports[self.primary]
        process = subprocess.Popen(
            [os.path.join(self._programs, "psql"), "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-d", "postgres", "-At"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            process.stdin.write(f"BEGIN; {sql}; SELECT 'held';\n")
            process.stdin.flush()
            while "held" not in process.stdout.readline():
                if process.poll() is not None:
                    raise RuntimeError(f"{sql} was not done")
            yield
        finally:
            process.stdin.close()
            process.wait(30)

    @contextlib.contextmanager
    def away(self):
        """No server answers meanwhile: all stand still."""
        numbers = [number for number in range(len(self.ports)) if self.is_up(number)]
        parts = [pid for number in numbers for pid in self._processes(self.postmaster(number))]
        for pid in parts:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in parts:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    @staticmethod
    def _processes(postmaster):
        """A server's process and its children."""
        with open(f"/proc/{postmaster}/task/{postmaster}/children") as file:
            return [postmaster, *map(int, file.read().split())]

    def await_standbys(self, count, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if int(self.ask("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") or 0) >= count:
                return
            time.sleep(0.1)
        raise RuntimeError("the standbys do not follow")


class Cell(Servers):
    """Three servers: one takes writes, which count when one of the others has them."""

    def __init__(self, folder, connections=50):
        super().__init__([free_port() for _ in range(3)], folder)
        if self._user:
            shutil.chown(folder, "postgres")
        self._run("initdb", "-D", self.data(0), "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C")
        self._configure(0, "wal_level = replica", "max_wal_senders = 8", "hot_standby = on", "shared_buffers = 32MB",
                        "wal_keep_size = 64MB", f"max_connections = {connections}", "wal_retrieve_retry_interval = 500ms",
                        f"unix_socket_directories = '{folder}'", "synchronous_standby_names = 'ANY 1 (s1, s2)'",
                        "listen_addresses = '127.0.0.1'", f"port = {self.ports[0]}")
        self.start(0)
        for number in (1, 2):
            self._copy(number)
        self.await_standbys(2)

    def _run(self, program, *options):
        subprocess.run([*self._user, os.path.join(self._programs, program), *options], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, cwd=self.folder)

    def _configure(self, number, *lines):
        with open(os.path.join(self.data(number), "postgresql.conf"), "a") as file:
            file.write("".join(f"{line}\n" for line in lines))

    def _follow(self, number, leader):
        self._configure(number, f"primary_conninfo = 'host=127.0.0.1 port={self.ports[leader]} user=postgres application_name=s{number}'")
        path = os.path.join(self.data(number), "standby.signal")
        with open(path, "w"):
            pass
        if self._user:
            shutil.chown(path, "postgres")

    def start(self, number):
        self._run("pg_ctl", "-D", self.data(number), "-l", os.path.join(self.folder, f"server{number}.log"), "-w", "start")

    def kill_primary(self, late=0, alone=0):
        """Kills the server that takes writes, and promotes the standby that has most of the log, so many seconds later; the other
        follows it, again so many seconds later: until then nothing is acknowledged."""
        dead = self.primary
        os.kill(self.postmaster(dead), signal.SIGKILL)
        standbys = [number for number in range(3) if number != dead and self.is_up(number)]
        received = {number: self.ask("SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')", number) for number in standbys}
        best = max(standbys, key=lambda number: float(received[number] or 0))
        names = ", ".join(f"s{number}" for number in range(3) if number != best)
        self._configure(best, f"synchronous_standby_names = 'ANY 1 ({names})'")
        time.sleep(late)
        self._run("pg_ctl", "-D", self.data(best), "-w", "promote")
        self._run("pg_ctl", "-D", self.data(best), "reload")
        self.primary = best
        time.sleep(alone)
        for number in standbys:
            if number != best:
                self._follow(number, best)
                self._run("pg_ctl", "-D", self.data(number), "reload")
        return dead

    def rebuild(self, number):
        """Makes a server that was dead a standby again, from a copy of the one that takes writes."""
        self.stop(number)
        shutil.rmtree(self.data(number))
        self._copy(number)

    def _copy(self, number):
        self._run("pg_basebackup", "-h", "127.0.0.1", "-p", str(self.ports[self.primary]), "-U", "postgres", "-D", self.data(number),
                  "-X", "stream", "-c", "fast", "--no-sync")
        self._follow(number, self.primary)
        self._configure(number, f"port = {self.ports[number]}", "synchronous_standby_names = ''")
        self.start(number)

    def close(self):
        for number in range(3):
            if os.path.isdir(self.data(number)):
                self.stop(number)
