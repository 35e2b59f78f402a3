"""A Doubloon program under test: started, asked over HTTP, killed. Standard library only."""

import http.client
import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.parse


class Down(Exception):
    """The connection broke, or could not be made: what became of the request is not known."""


class Answer:
    """An HTTP answer: its status, its headers (lower-case names) and its body as JSON."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.text = body.decode("utf-8", "replace")
        try:
            self.json = json.loads(self.text) if self.text else None
        except ValueError:
            self.json = None


class Connection:
    """One client's connection, kept open between requests; `token` is who asks, in development an administrator."""

    def __init__(self, port, timeout=120, token="owner"):
        self._authorization = f"Bearer {token}"
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        data = None if body is None else json.dumps(body).encode()
        sent = {"Authorization": self._authorization, "Content-Type": "application/json"}
        sent.update(headers or {})
        try:
            self._http.request(method, urllib.parse.quote(path, safe="/?=&$%"), body=data, headers=sent)
            response = self._http.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        except (OSError, http.client.HTTPException) as error:
            self._http.close()
            raise Down(str(error)) from error

    def close(self):
        self._http.close()


class Server:
    """`doubloon dev` on a free port, with its output read so that it never blocks."""

    ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")

    def __init__(self, program, *options):
        self.begin = time.monotonic()
        self.lines = []
        self.port = None
        self._said = threading.Event()
        self.process = subprocess.Popen(
            [os.path.abspath(program), "dev", "--port", "0", *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            del self.lines[:-200]
            found = self.ADDRESS.search(line)
            if found and self.port is None:
                self.port = int(found.group(1))
                self._said.set()
        self._said.set()

    def await_address(self, seconds=180):
        """Waits until the server says where it listens; raises what it said instead if it ended before."""
        if not self._said.wait(seconds) or self.port is None:
            said = "\n".join(self.lines[-20:])
            self.kill()
            raise RuntimeError(f"the server did not say where it listens; it said:\n{said}")
        self.started_in = time.monotonic() - self.begin
        return self.port

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        return self.process.wait()

    def stop(self, seconds=120):
        """Asks the server to end. Returns its exit code; None if it had to be killed."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return None


class Checks:
    """Counts what held and what did not, and says so in the form that Scripts/test reads. `word` is what stands before a check
    that did not hold."""

    def __init__(self, word="FAILED"):
        self.word = word
        self.passed = 0
        self.failed = 0
        self._lock = threading.Lock()

    def check(self, name, holds, detail="", quiet=False):
        with self._lock:
            if holds:
                self.passed += 1
                if not quiet:
                    print(f"ok      {name}", flush=True)
            else:
                self.failed += 1
                print(f"{self.word:<7} {name}" + (f": {detail}" if detail else ""), flush=True)
        return bool(holds)

    def add(self, others):
        """Counts what other checks found as found here."""
        self.passed += others.passed
        self.failed += others.failed

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0
