"""Floods of wrong passwords: each costs the server a hash, and others must sign in as if nothing were."""

import json
import socket
import statistics

PASSWORD = "a password of jim's"
JIM = {"email": "jim@example.com", "password": PASSWORD, "returnSecureToken": True}


class Flood:
    """Sign-ins with wrong passwords, sent all at once, each on a connection of its own."""

    def __init__(self, server, addresses, count):
        self.sockets = []
        for number in range(count):
            body = json.dumps({"email": f"p{number}@example.com", "password": "wrong-one"}).encode()
            head = (f"POST /v1/accounts:signInWithPassword?key=k HTTP/1.1\r\nHost: game\r\nX-Forwarded-For: "
                    f"{addresses[number % len(addresses)]}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=300)
            connection.sendall(head.encode() + body)
            self.sockets.append(connection)

    def statuses(self):
        """How often each status was answered, once all are."""
        found = {}
        for connection in self.sockets:
            status = connection.recv(64).split(b" ")[1].decode()
            found[status] = found.get(status, 0) + 1
            connection.close()
        return found


def sign_ins(server, count):
    """Signs jim in so often, one after the other: the statuses, and the middle duration."""
    client = server.client("203.0.113.5")
    answers = [client.ask("POST", "/v1/accounts:signInWithPassword?key=k", JIM) for _ in range(count)]
    client.close()
    return [answer.status for answer in answers], statistics.median(answer.seconds for answer in answers)


def a_flood_from_one_address_keeps_nobody_else_out(server, checks):
    client = server.client("203.0.113.5")
    answer = client.ask("POST", "/v1/accounts:signUp?key=k", JIM)
    checks.check("jim has an account", answer.status == 200, answer.text)
    # A machine that does something else for a moment shows no fault of the server's: what is one shows each time.
    for address in ("198.51.100.7", "198.51.100.8", "198.51.100.9"):
        _, quiet = sign_ins(server, 7)
        flood = Flood(server, [address], 90)
        statuses, attacked = sign_ins(server, 5)
        answered = flood.statuses()
        if attacked <= 5 * quiet:
            break
    checks.check("jim signs in under a flood from one address", statuses == [200] * 5, statuses)
    checks.check("some of the flood is refused, the rest is checked", set(answered) <= {"400", "503"} and "503" in answered, answered)
    ratio = attacked / quiet
    checks.check("a sign-in under a flood takes at most 5 times as long", ratio <= 5, f"{quiet:.3f} s, then {attacked:.3f} s")
    print(f"        a sign-in: {quiet * 1000:.0f} ms, under a flood {attacked * 1000:.0f} ms ({ratio:.1f})", flush=True)


def a_flood_from_many_addresses_leaves_a_place(server, checks):
    flood = Flood(server, [f"198.51.100.{number}" for number in range(20, 28)], 240)
    statuses, _ = sign_ins(server, 3)
    answered = flood.statuses()
    checks.check("jim signs in under a flood from eight addresses", statuses == [200] * 3, statuses)
    checks.check("which is refused in part", set(answered) <= {"400", "503"} and "503" in answered, answered)


CHECKS = [a_flood_from_one_address_keeps_nobody_else_out, a_flood_from_many_addresses_leaves_a_place]
