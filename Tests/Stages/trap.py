"""A function that traps kills the program: it must be found and stopped, and nobody else may suffer.

A program with a function that really traps is started again each time it dies, as a supervisor would. The event that kills it
becomes a dead letter after three deaths that it alone is to blame for; its function is paused, everybody else is paid once, and
the function goes on when it is resumed.
"""

import argparse
import shutil
import sys
import tempfile
import time

from server import Checks, Connection, Down, Server

DEATHS_MAX = 10


def await_death(server, seconds):
    """Whether the program dies by itself within so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if server.process.poll() is not None:
            return True
        time.sleep(0.02)
    return False


def is_calm(connection):
    """Whether everything that the program was asked for is settled."""
    try:
        return connection.ask("POST", "/admin/v1/drain?timeout=20s").status == 200
    except Down:
        return False


def supervise(program, data, checks):
    """Starts the program until it stays alive. Returns it, with how often it died."""
    for deaths in range(1, DEATHS_MAX):
        server = Server(program, "--data", data)
        try:
            server.await_address()
        except RuntimeError:
            server.kill()
            continue
        if is_calm(Connection(server.port)):
            return server, deaths
        if not await_death(server, 120):
            checks.check("the program dies, or settles", False, "\n".join(server.lines[-5:]))
            server.kill()
    return None, DEATHS_MAX


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the program with the functions that trap")
    options = parser.parse_args()
    data = tempfile.mkdtemp(prefix="doubloon-trap-")
    checks = Checks()
    server = None
    try:
        server = Server(options.program, "--data", data)
        connection = Connection(server.await_address())
        for player in range(20):
            connection.ask("PUT", f"/players/p{player}/level.json", 1)
        try:
            connection.ask("PUT", "/fuses/a.json", "trap")
            for player in range(20, 40):
                connection.ask("PUT", f"/players/p{player}/level.json", 1)
        except Down:
            pass  # It died while it was asked; what was not acknowledged is sent again below.
        checks.check("a function that traps kills the program", await_death(server, 120))

        server, deaths = supervise(options.program, data, checks)
        if not checks.check(f"after {deaths} deaths the program stays alive", server is not None and deaths <= 4, f"{deaths}"):
            return checks.finish()
        connection = Connection(server.port)
        dead = connection.ask("GET", "/admin/v1/dead-letters").json["deadLetters"]
        checks.check(
            "the event that killed it is the one dead letter, for three deaths",
            [(letter["event"].split(":")[1], letter["crashes"]) for letter in dead] == [("/fuses/a", 3)], str(dead))
        functions = {one["name"]: one for one in connection.ask("GET", "/admin/v1/functions").json["functions"]}
        checks.check("its function is paused, the other is not", [functions[name]["paused"] for name in ("fuse", "pay")] == [True, False])
        ready = connection.ask("GET", "/readyz")
        checks.check("the program says that it needs somebody", ready.status == 503, f"{ready.status} {ready.text}")

        for player in range(40):
            connection.ask("PUT", f"/players/p{player}/level.json", 1)
        connection.ask("PUT", "/fuses/b.json", "fine")
        checks.check("others go on", is_calm(connection))
        coins = [connection.ask("GET", f"/users/p{player}/inventory/pieces_of_eight.json").json for player in range(40)]
        checks.check("every player was paid once, also who was there when it died", coins == [50] * 40, str(coins))
        resumed = connection.ask("POST", "/admin/v1/functions/fuse/resume", {})
        checks.check("the function is resumed", resumed.status == 200, resumed.text)
        is_calm(connection)
        checks.check("and runs what waited", connection.ask("GET", "/burnt/b.json").json is True)
        checks.check("the ledger is sound", connection.ask("GET", "/admin/v1/ledger/verify").json.get("sound") is True)
        checks.check("the log is sound", connection.ask("GET", "/admin/v1/log/verify").json.get("sound") is True)
        checks.check("asked to end, the program ends well", server.stop() == 0)
    except Exception as error:
        checks.check("the stage came to its end", False, f"{type(error).__name__}: {error}")
    finally:
        if server:
            server.kill()
        shutil.rmtree(data, ignore_errors=True)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
