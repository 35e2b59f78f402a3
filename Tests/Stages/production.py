"""`doubloon serve` as production runs it, with the clients that a stage attacks it with. Standard library only.

It listens without TLS on this machine and believes what a proxy says of its clients: a client is of whatever address it wants to
be. Rules, limits and rates are production's defaults.
"""

import http.client
import json
import multiprocessing
import os
import re
import time

from serving import Serve

TOKEN = "0123456789abcdef0123456789abcdef"

RULES = {"rules": {
    "users": {"$uid": {
        ".read": "auth.uid === $uid",
        ".write": "auth.uid === $uid",
        "level": {".validate": "newData.isNumber()"},
    }},
    "board": {".read": True, "$uid": {".write": "auth != null && auth.uid === $uid", ".validate": "newData.isNumber()"}},
    "guests": {"$name": {".write": "newData.isString() && newData.val().length < 20"}},
}}


class Plain(Serve):
    """The server without TLS."""

    ADDRESS = re.compile(r"Serving http://127\.0\.0\.1:(\d+)")


class Answer:
    """An answer: its status, its headers (lower-case names), its body as JSON, and how long it took."""

    def __init__(self, status, headers, body, seconds):
        self.status = status
        self.headers = headers
        self.text = body.decode("utf-8", "replace")
        self.seconds = seconds
        try:
            self.json = json.loads(self.text) if self.text else None
        except ValueError:
            self.json = None


class Client:
    """One connection from one address, kept open between requests."""

    def __init__(self, port, address, token=None, timeout=120):
        self.port = port
        self.address = address
        self.token = token
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        """Sends a request; `body` is bytes as they are, or a value that becomes JSON. Raises OSError if the connection breaks."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"X-Forwarded-For": self.address, "Content-Type": "application/json"}
        if self.token:
            path += ("&" if "?" in path else "?") + "auth=" + self.token
        sent.update(headers or {})
        begin = time.monotonic()
        try:
            try:
                self._http.request(method, path, body=data, headers=sent)
            except (BrokenPipeError, ConnectionResetError):
                # An answer that came before the body was sent is still there to be read.
                pass
            response = self._http.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._http.close()
            raise OSError(str(error)) from error
        if response.will_close:
            self._http.close()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, text, time.monotonic() - begin)

    def close(self):
        self._http.close()


class Player(Client):
    """Somebody signed in, with an account of their own; `uid` is the account."""

    def __init__(self, port, address, timeout=120):
        super().__init__(port, address, timeout=timeout)
        answer = self.ask("POST", "/v1/accounts:signUp?key=k", {"returnSecureToken": True})
        if answer.status != 200:
            raise RuntimeError(f"no account for {address}: {answer.status} {answer.text[:200]}")
        self.uid = answer.json["localId"]
        self.token = answer.json["idToken"]

    def home(self, rest=""):
        """The player's own record, or what lies below it."""
        return f"/users/{self.uid}{rest}.json"


class Production:
    """The server of one module of checks: in `folder`, with `settings` beside and above those that every server here has."""

    def __init__(self, program, folder, settings=None, rules=None):
        given = {
            "project": "stage", "data": "data", "rules": "rules.json",
            "listen": {"host": "127.0.0.1", "port": 0, "behindProxy": True},
            "admins": [{"name": "ops", "token": {"file": "ops.token"}}],
            "accounts": {"publicURL": "https://game.example.com"},
        }
        given.update(settings or {})
        for name, text in (("rules.json", json.dumps(rules or RULES)), ("ops.token", TOKEN + "\n"),
                           ("doubloon.jsonc", json.dumps(given))):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        os.chmod(os.path.join(folder, "ops.token"), 0o600)
        self.program = program
        self.folder = folder
        self.serve = Plain(program, os.path.join(folder, "doubloon.jsonc"))
        self.port = self.serve.port

    def client(self, address="198.51.100.1", timeout=120):
        """Somebody without credentials."""
        return Client(self.port, address, timeout=timeout)

    def player(self, address="203.0.113.1", timeout=120):
        """Somebody signed in. An address may make 100 accounts in an hour."""
        return Player(self.port, address, timeout=timeout)

    def admin(self):
        """The administrator, from an address of their own."""
        client = Client(self.port, "192.0.2.1")
        ask = client.ask
        client.ask = lambda method, path, body=None, headers=None: ask(
            method, path, body, {"Authorization": f"Bearer {TOKEN}", **(headers or {})})
        return client

    def resident(self):
        """Bytes of the server's memory that are in the machine's."""
        with open(f"/proc/{self.serve.process.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS:"))

    def is_well(self):
        """Whether it runs and says so."""
        if self.serve.process.poll() is not None:
            return False
        client = self.client("192.0.2.2")
        try:
            return client.ask("GET", "/healthz").status == 200
        except OSError:
            return False
        finally:
            client.close()

    def stop(self):
        """Ends it. Returns its exit code."""
        return self.serve.stop() if self.serve.process.poll() is None else self.serve.process.returncode


class Attack:
    """Runs `work(port)` over and over in processes of its own, so that it takes no time from those who measure.

    `with Attack(server, work, times_per_second=5) as attack:`; afterwards `attack.statuses` counts what `work` returned.
    """

    def __init__(self, server, work, times_per_second, processes=1):
        self._gate = multiprocessing.Event()
        self._results = multiprocessing.SimpleQueue()
        self._processes = [
            multiprocessing.Process(
                target=self._run, args=(work, server.port, 1 / times_per_second, self._gate, self._results), daemon=True)
            for _ in range(processes)]
        self.statuses = {}

    @staticmethod
    def _run(work, port, pause, gate, results):
        statuses = {}
        due = time.monotonic()
        while not gate.is_set():
            try:
                status = work(port)
            except OSError as error:
                status = f"broken: {error}"
            statuses[status] = statuses.get(status, 0) + 1
            due = max(due + pause, time.monotonic())
            gate.wait(max(0, due - time.monotonic()))
        results.put(statuses)

    def __enter__(self):
        for process in self._processes:
            process.start()
        return self

    def __exit__(self, *_):
        self._gate.set()
        for _ in self._processes:
            for status, count in self._results.get().items():
                self.statuses[status] = self.statuses.get(status, 0) + count
        for process in self._processes:
            process.join()


def percentile(seconds, percent=99):
    """The time within which so many percent of some came back."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]
