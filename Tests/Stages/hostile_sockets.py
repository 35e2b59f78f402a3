"""A flood of writes over one socket: it goes no faster than the player may write, no write is refused, and others do not notice."""

import json
import socket
import threading
import time

from hostile_memory import request, websocket

WRITES = 900
# The default rate of one player.
BURST, PER_SECOND = 500, 100


class Answers:
    """Reads a server's frames on a thread of its own, and keeps the answers to requests with the time they came."""

    def __init__(self, connection):
        self._connection = connection
        self.answers = []
        threading.Thread(target=self._read, daemon=True).start()

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            more = self._connection.recv(count - len(data))
            if not more:
                raise OSError("closed")
            data += more
        return data

    def _read(self):
        try:
            while True:
                first, length = self._exactly(2)
                if length == 126:
                    length = int.from_bytes(self._exactly(2), "big")
                elif length == 127:
                    length = int.from_bytes(self._exactly(8), "big")
                payload = self._exactly(length)
                if first & 15 == 1 and payload[:1] == b"{":
                    message = json.loads(payload)
                    if message["t"] == "d" and "r" in message["d"]:
                        self.answers.append((message["d"]["r"], message["d"]["b"]["s"], time.monotonic()))
        except (OSError, socket.timeout):
            pass

    def wait(self, count, seconds):
        end = time.monotonic() + seconds
        while len(self.answers) < count and time.monotonic() < end:
            time.sleep(0.01)
        return len(self.answers) >= count


def writes_over_a_socket_have_a_pace(server, checks):
    player = server.player("203.0.113.3")
    connection = websocket(server, "203.0.113.3")
    connection.settimeout(300)
    answers = Answers(connection)
    connection.sendall(request(0, "auth", {"cred": player.token}))
    checks.check("a player signs in on a socket", answers.wait(1, 120) and answers.answers[0][1] == "ok")
    begin = time.monotonic()
    flood = b"".join(request(n, "p", {"p": f"/users/{player.uid}/level", "d": n}) for n in range(1, WRITES + 1))
    threading.Thread(target=connection.sendall, args=(flood,), daemon=True).start()
    checks.check("a flood of writes is acknowledged whole", answers.wait(WRITES + 1, 300), f"{len(answers.answers) - 1} answers")
    seconds = answers.answers[-1][2] - begin
    least = (WRITES - BURST) / PER_SECOND
    checks.check(
        "no faster than the player may write", seconds >= least * 0.9, f"{WRITES} writes in {seconds:.1f} s, {least:.1f} s at least")
    checks.check("none is refused", all(status == "ok" for _, status, _ in answers.answers))
    checks.check("and all in order", [number for number, _, _ in answers.answers] == list(range(WRITES + 1)))
    connection.close()


CHECKS = [writes_over_a_socket_have_a_pace]
