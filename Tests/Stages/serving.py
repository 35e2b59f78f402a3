"""`doubloon serve` under test: its certificates, made on the spot, and the program itself. Standard library only."""

import os
import re
import signal
import socket
import subprocess
import threading
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def certificates(folder, *names):
    """An authority and a certificate for this machine, and for further names, made on the spot."""
    at = lambda name: os.path.join(folder, name)
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", at("ca.key"), "-out", at("ca.pem"), "-days", "2",
        "-subj", "/CN=stage", "-addext", "basicConstraints=critical,CA:TRUE")
    issue(folder, "server", *names)


def issue(folder, name, *names):
    at = lambda file: os.path.join(folder, file)
    run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", at(f"{name}.key"), "-out", at(f"{name}.csr"),
        "-subj", f"/CN={name}")
    with open(at("extensions"), "w") as file:
        file.write("subjectAltName=DNS:localhost,IP:127.0.0.1" + "".join(f",DNS:{name}" for name in names) + "\n")
    run("openssl", "x509", "-req", "-in", at(f"{name}.csr"), "-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial",
        "-out", at(f"{name}.pem"), "-days", "2", "-extfile", at("extensions"))


class Serve:
    """`doubloon serve` on a free port, with its log read so that it never blocks."""

    ADDRESS = re.compile(r"Serving https://127\.0\.0\.1:(\d+)")

    def __init__(self, program, config, **variables):
        self.lines = []
        self.port = None
        self._said = threading.Event()
        self.process = subprocess.Popen(
            [program, "serve", "--config", config], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, env={**os.environ, **variables})
        threading.Thread(target=self._read, daemon=True).start()
        if not self._said.wait(60) or self.port is None:
            self.process.kill()
            raise RuntimeError("the server did not say where it listens:\n" + "\n".join(self.lines[-20:]))

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            found = self.ADDRESS.search(line)
            if found and self.port is None:
                self.port = int(found.group(1))
                self._said.set()
        self._said.set()

    def stop(self, seconds=30):
        """Asks the server to end. Returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def said(self, text, seconds=30):
        return until(lambda: any(text in line for line in self.lines), seconds)


def until(holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
