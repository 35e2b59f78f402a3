"""Three PostgreSQL servers that Patroni looks after, with etcd, in a folder of their own: killed, frozen, switched over. Debian's packages
only.
"""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess

from full_disk import until
from postgres_cell import Servers, free_port

PROGRAMS = ("etcd", "patroni", "patronictl")
SCOPE = "doubloon"


class PatroniCell(Servers):
    """Patroni decides which of the servers takes writes."""

    def __init__(self, folder):
        super().__init__([free_port() for _ in range(3)], folder)
        self._rest = [free_port() for _ in range(3)]
        self._patroni = [None] * 3
        self._environment = dict(os.environ, HOME=folder)
        if self._user:
            shutil.chown(folder, "postgres")
        client, peer = (free_port() for _ in range(2))
        self._etcd = self._spawn(
            "etcd", "etcd", "--name", "etcd", "--data-dir", os.path.join(folder, "etcd"),
            "--listen-client-urls", f"http://127.0.0.1:{client}", "--advertise-client-urls", f"http://127.0.0.1:{client}",
            "--listen-peer-urls", f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
            "--initial-cluster", f"etcd=http://127.0.0.1:{peer}",
            # What Patroni 3.0.2 knows of etcd's third version lets a frozen Patroni take the lock from who has it by then.
            "--enable-v2")
        self._await_port(client)
        for number in range(3):
            with open(self._configuration(number), "w") as file:
                json.dump(self._settings(number, client), file)
            self.start(number)

    def _settings(self, number, etcd):
        """Patroni's configuration of a server; the part below `dcs` is that of Documentation/Cluster.md."""
        return {
            "scope": SCOPE, "name": f"pg{number}", "etcd": {"host": f"127.0.0.1:{etcd}"},
            "restapi": {"listen": f"127.0.0.1:{self._rest[number]}", "connect_address": f"127.0.0.1:{self._rest[number]}"},
            "bootstrap": {
                "dcs": {
                    "ttl": 20, "loop_wait": 2, "retry_timeout": 3, "primary_start_timeout": 0,
                    "synchronous_mode": True, "synchronous_mode_strict": True, "synchronous_node_count": 1,
                    "postgresql": {"use_pg_rewind": True, "parameters": {
                        "wal_log_hints": "on", "shared_buffers": "32MB", "max_connections": 50, "wal_retrieve_retry_interval": "500ms"}},
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}],
            },
            "postgresql": {
                "listen": f"127.0.0.1:{self.ports[number]}", "connect_address": f"127.0.0.1:{self.ports[number]}",
                "data_dir": self.data(number), "bin_dir": self._programs, "pgpass": os.path.join(self.folder, f"pgpass{number}"),
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
                "parameters": {"unix_socket_directories": self.folder},
                "authentication": {name: {"username": user, "password": "doubloon"} for name, user in
                                   (("superuser", "postgres"), ("replication", "replicator"), ("rewind", "rewinder"))},
            },
            "watchdog": {"mode": "off"},
        }

    def _configuration(self, number):
        return os.path.join(self.folder, f"patroni{number}.json")

    def _spawn(self, log, program, *options):
        with open(os.path.join(self.folder, log + ".log"), "ab") as output:
            return subprocess.Popen([*self._user, program, *options], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                    cwd=self.folder, env=self._environment, start_new_session=True)

    def _await_port(self, port):
        def is_open():
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                return False
            return True
        if not until(is_open, 30):
            raise RuntimeError("etcd does not answer")

    def start(self, number):
        """Patroni, which starts its server."""
        self._patroni[number] = self._spawn(f"patroni{number}", "patroni", self._configuration(number))

    # What is known of them.

    def _members(self):
        """The servers as etcd has them, from any Patroni that answers."""
        for port in self._rest:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
            try:
                connection.request("GET", "/cluster")
                return json.loads(connection.getresponse().read())["members"]
            except (OSError, ValueError, KeyError, http.client.HTTPException):
                pass
            finally:
                connection.close()
        return []

    @property
    def primary(self):
        """The server that Patroni says leads; the first where it says none."""
        return next((int(member["name"][2:]) for member in self._members() if member["role"] == "leader"), 0)

    def term(self):
        """Which process takes writes: its server and its number; None while none does."""
        for member in self._members():
            number = int(member["name"][2:])
            if member["role"] == "leader" and self.ask("SELECT pg_is_in_recovery()", number) == "f":
                return number, self.postmaster(number)
        return None

    def is_whole(self):
        """Whether one takes writes, two follow, and one of those is there for what is acknowledged."""
        roles = sorted(member["role"] for member in self._members() if member["state"] in ("running", "streaming"))
        return roles == ["leader", "replica", "sync_standby"] and self.term() is not None and self.ask(
            "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == "2"

    # What happens to them.

    def kill(self, number, *, with_patroni=False):
        """Kills a server's first process, and with it Patroni, as the death of their machine would."""
        if with_patroni:
            self._patroni[number].kill()
            self._patroni[number].wait()
        os.kill(self.postmaster(number), signal.SIGKILL)

    def signal_patroni(self, number, what):
        self._patroni[number].send_signal(what)

    def switch_over(self):
        """Begins a planned switchover, as an administrator would."""
        return self._spawn("patronictl", "patronictl", "-c", self._configuration(0), "switchover", SCOPE, "--leader", f"pg{self.primary}",
                           "--force")

    def log(self):
        """The last that each Patroni said."""
        said = []
        for number in range(3):
            with open(os.path.join(self.folder, f"patroni{number}.log"), errors="replace") as file:
                said.append(f"-- patroni {number}\n{file.read()[-2000:]}")
        return "\n".join(said)

    def close(self):
        for patroni in self._patroni:
            if patroni:
                patroni.kill()
                patroni.wait()
        for number in range(3):
            self.stop(number)
        self._etcd.kill()
        self._etcd.wait()
