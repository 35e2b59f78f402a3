"""Writes that the rules refuse: they must cost the server little, and other players nothing to speak of."""

import json
import socket
import time

from production import Attack, Client, percentile

ARRAY = ("[" + ",".join(["0"] * 100_000) + "]").encode()
INCREMENTS = json.dumps({f"k{number}": {".sv": {"increment": 1}} for number in range(100_000)}).encode()
PATHS = json.dumps({f"someone{number:06}/some/deep/place/of/theirs": "x" * 20 for number in range(100_000)}).encode()
# Below 64 KB: what is collected, parsed and judged.
SHORT = ("[" + ",".join(["0"] * 30_000) + "]").encode()

SECONDS = 4
# A player's writes may take so many times as long as in quiet; below so many seconds nobody could tell. A machine that does something
# else for a moment shows no fault of the server's: what is one shows each of so many times.
WORST = 3
NOISE = 0.02
TIMES = 3


def worst_of(player, seconds=SECONDS):
    """The 99th percentile of a player's writes, one every 20 ms."""
    taken = []
    end = time.monotonic() + seconds
    level = 0
    while time.monotonic() < end:
        level += 1
        answer = player.ask("PUT", player.home("/level"), level)
        if answer.status != 200:
            raise AssertionError(f"a player's write got {answer.status}: {answer.text[:200]}")
        taken.append(answer.seconds)
        time.sleep(0.02)
    return percentile(taken)


def refused_at_its_head(server, checks):
    for name, method, path, body in (
        ("a PUT of 100,000 zeros", "PUT", "/users/x.json", ARRAY),
        ("a PUT of 100,000 increments", "PUT", "/users/x.json", INCREMENTS),
        ("a PATCH of 100,000 paths", "PATCH", "/users.json", PATHS),
    ):
        # Only its head and first bytes are sent: the error does not wait for the rest.
        with socket.create_connection(("127.0.0.1", server.port), timeout=120) as connection:
            head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.7\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body[:100])
            text = b""
            while chunk := connection.recv(65536):
                text += chunk
        checks.check(
            f"{name} ({len(body) / 1e6:.1f} MB) is refused at its head with 401 Permission denied, and the connection ends",
            b" 401 " in text.split(b"\r\n")[0] and b"Permission denied" in text, text[:300])
    answer = server.client("198.51.100.8").ask("PUT", "/users/x.json", SHORT)
    checks.check("a short one with 401, too", answer.status == 401 and "Permission denied" in answer.text, answer.text)


def attacker(method, path, body, token=""):
    """A client of an address of its own that sends one write again and again."""
    def work(port):
        client = Client(port, "198.51.100.9", token or None)
        try:
            return client.ask(method, path, body).status
        finally:
            client.close()
    return work


def others_do_not_wait(server, checks):
    player = server.player("203.0.113.10")
    rogue = server.player("203.0.113.11")
    worst_of(player, 1)
    quiet = worst_of(player)
    print(f"        quiet: {quiet * 1000:.1f} ms")
    for name, per_second, work, expected in (
        ("an unknown client's 100,000 zeros", 5, attacker("PUT", "/users/x.json", ARRAY), {401, 429}),
        ("an unknown client's 100,000 increments", 2, attacker("PUT", "/users/x.json", INCREMENTS), {401, 429}),
        ("an unknown client's PATCH of 100,000 paths", 2, attacker("PATCH", "/users.json", PATHS), {401, 429}),
        ("an unknown client's 30,000 zeros, just below the bound", 5, attacker("PUT", "/users/x.json", SHORT), {401, 429}),
        ("100,000 zeros of somebody who is signed in", 5, attacker("PUT", "/users/x.json", ARRAY, rogue.token), {401, 429}),
    ):
        for time_number in range(1, TIMES + 1):
            with Attack(server, work, per_second) as attack:
                attacked = worst_of(player, SECONDS * time_number)
            made = sum(attack.statuses.values())
            if time_number == TIMES or (made >= per_second * SECONDS // 2 and attacked <= max(WORST * quiet, NOISE)):
                break
            quiet = worst_of(player)
        # An attack that hardly took place proves nothing of what others suffer.
        checks.check(
            f"{name}: at least {per_second * SECONDS // 2} were made, all refused",
            made >= per_second * SECONDS // 2 and set(attack.statuses) <= expected, attack.statuses)
        checks.check(
            f"{name}: another player's writes take at most {WORST} times as long", attacked <= max(WORST * quiet, NOISE),
            f"{attacked * 1000:.1f} ms at the 99th percentile, {quiet * 1000:.1f} ms in quiet")
        print(f"        {attacked / quiet:.1f} times, {attacked * 1000:.1f} ms; answers {attack.statuses}")


CHECKS = [refused_at_its_head, others_do_not_wait]
