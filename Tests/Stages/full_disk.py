"""Fills the disk under the program, then proves that nothing was acknowledged that is not there.

The data folder lies on a small file system in memory, mounted in a mount namespace of this script's own. Players write until
the disk refuses; then the disk is made larger, and the program goes on by itself. It is filled again, the program killed, the disk
made larger, and the program started again.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from server import Checks, Connection, Down, Server

# The second has less free than a server waits for; in the third it goes on, and fills it, too.
SMALL, LESS, MORE, LARGE = "6m", "16m", "72m", "160m"
NAMESPACE = "ns=full"


def isolate():
    """Goes on in a mount namespace of its own: as root, or as a user that may map itself to root."""
    if os.environ.get("DOUBLOON_FULL_DISK"):
        return
    os.environ["DOUBLOON_FULL_DISK"] = "1"
    mapped = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    os.execvp("unshare", ["unshare", *mapped, "--mount", sys.executable, *sys.argv])


def mount(folder, size, *, again=False):
    options = f"size={size}" + (",remount" if again else "")
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)


def player(number):
    return {"name": f"Player {number}", "note": chr(97 + number % 26) * 3000, "referred_by": "bob", "last_signin_at": number}


def fill(connection, checks, first=0):
    """Writes players until the disk refuses. Returns those that were acknowledged, and the error."""
    acknowledged = {}
    for number in range(first, 100_000):
        try:
            answer = connection.ask("PUT", f"/users/p{number}.json?{NAMESPACE}", player(number))
        except Down as error:
            checks.check("a full disk refuses and does not hang up", False, str(error))
            return acknowledged, None
        if answer.status != 200:
            return acknowledged, answer
        acknowledged[number] = player(number)
    return acknowledged, None


def compare(connection, acknowledged):
    """The acknowledged players that are not there as they were written."""
    users = connection.ask("GET", f"/users.json?{NAMESPACE}").json or {}
    lost = []
    for number, written in acknowledged.items():
        found = users.get(f"p{number}") or {}
        if {key: found.get(key) for key in written} != written:
            lost.append(number)
    return lost


def asked(port, method, path, body=None):
    """An answer on a connection of its own; None where there is none."""
    connection = Connection(port, timeout=30)
    try:
        return connection.ask(method, path, body)
    except Down:
        return None
    finally:
        connection.close()


def until(holds, seconds=90):
    end = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.2)
    return found


def is_ready(port):
    answer = asked(port, "GET", "/readyz")
    return answer is not None and answer.status == 200


def refuses(checks, server, connection, error, stops):
    """What a server says whose disk is full."""
    checks.check("the write that found the disk full is refused as unavailable", error and error.status == 503,
                 error and f"{error.status} {error.text}")
    checks.check("the error says what to do", error and "room" in json.dumps(error.json), error and error.text)
    again = connection.ask("PUT", f"/a.json?{NAMESPACE}", 1)
    checks.check("every later write is refused, and says when to come back",
                 again.status == 503 and again.headers.get("retry-after") == "5", f"{again.status} {again.headers}")
    ready = connection.ask("GET", "/readyz")
    checks.check("the server says that it is not ready", ready.status == 503, f"{ready.status} {ready.text}")
    checks.check("it says why", "full" in json.dumps(ready.json.get("reasons")), ready.text)
    checks.check("the process is healthy all the same", connection.ask("GET", "/healthz").status == 200)
    connection.ask("PUT", f"/b.json?{NAMESPACE}", 1)
    said = [line for line in server.lines if "the writer has stopped" in line]
    checks.check("the log has one line about it, an error with the reason",
                 len(said) == stops and "error" in said[-1] and "full" in said[-1], "\n".join(server.lines[-5:]))


def is_sound(checks, connection, acknowledged, when):
    checks.check(f"{when} nothing that was acknowledged is lost", compare(connection, acknowledged) == [])
    checks.check("the server drains", connection.ask("POST", f"/admin/v1/drain?{NAMESPACE}").status == 200)
    balances = connection.ask("GET", f"/users.json?{NAMESPACE}").json
    unpaid = [n for n in acknowledged if balances[f"p{n}"].get("inventory") != {"pieces_of_eight": 50}]
    checks.check("every acknowledged sign-up is paid once", unpaid == [], str(unpaid[:5]))
    report = connection.ask("GET", f"/admin/v1/ledger/verify?{NAMESPACE}")
    checks.check("the ledger is sound", report.status == 200 and report.json.get("sound") is True, report.text[:300])
    whole = connection.ask("GET", "/admin/v1/verify")
    checks.check("everything stored is sound", whole.status == 200 and whole.json.get("sound") is True, whole.text[:300])
    checks.check("writing goes on", connection.ask("PUT", f"/a.json?{NAMESPACE}", 1).status == 200)


def goes_on(checks, server, folder, acknowledged):
    """The disk gets a little room, and then enough: nobody has to start the server."""
    mount(folder, LESS, again=True)
    time.sleep(5)
    checks.check("with little room it goes on refusing", not is_ready(server.port) and server.process.poll() is None)
    mount(folder, MORE, again=True)
    checks.check("with enough room the server is ready again, on its port", until(lambda: is_ready(server.port)),
                 "\n".join(server.lines[-5:]))
    checks.check("the process is the same", server.process.poll() is None)
    checks.check("the log says that it goes on", sum("the server goes on" in line for line in server.lines) == 1)
    checks.check("it says once where it listens", sum("Doubloon" in line and "http" in line for line in server.lines) <= 1)
    leftovers = [name for name in os.listdir(os.path.join(folder, "data")) if name.startswith(".space")]
    checks.check("nothing is left of the try", leftovers == [], leftovers)
    is_sound(checks, Connection(server.port), acknowledged, "after the disk got room")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the doubloon program")
    program = parser.parse_args().program
    isolate()
    checks = Checks()
    folder = tempfile.mkdtemp(prefix="doubloon-full-")
    server = None
    try:
        mount(folder, SMALL)
        data = ["--data", os.path.join(folder, "data")]
        server = Server(program, *data)
        connection = Connection(server.await_address())
        acknowledged, error = fill(connection, checks)
        checks.check("some players were written before the disk was full", len(acknowledged) > 20, str(len(acknowledged)))
        refuses(checks, server, connection, error, stops=1)
        checks.check("what was acknowledged can still be read", compare(connection, acknowledged) == [])
        goes_on(checks, server, folder, acknowledged)

        connection = Connection(server.port)
        more, error = fill(connection, checks, first=max(acknowledged) + 1)
        acknowledged.update(more)
        refuses(checks, server, connection, error, stops=2)
        server.kill()
        mount(folder, LARGE, again=True)
        server = Server(program, *data)
        connection = Connection(server.await_address())
        is_sound(checks, connection, acknowledged, "after a start with space")
        checks.check("the server ends in order", server.stop() == 0)
    finally:
        if server:
            server.kill()
        subprocess.run(["umount", "-l", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
