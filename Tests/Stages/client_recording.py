"""A conversation of the Swift library with the program, recorded in Tests/Fixtures/client/conversation.txt.

The file is a list of steps. After `# NAME` come `=` what happens outside (`connect`, `close`, or `PUT PUSHES PATH JSON`, a change by
an administrator of which the server then says so many times), `>` requests, `<` what the server said, and `!` what the library's
listeners are told. A unit test plays the file to the library's state machine; the stage `library` plays its requests to the
program, and the program must still say the same. To record it again, after a change of the requests:

    python3 Tests/Stages/client_recording.py --program .build/release/doubloon
"""

import argparse
import json
import os
import re
import sys
import tempfile

from hostile_memory import frame, websocket
from server import Connection, Server

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Fixtures", "client", "conversation.txt")


class Socket:
    """One connection to the database."""

    def __init__(self, server):
        behind = []
        self._socket = websocket(server, "203.0.113.40", behind=behind)
        self._socket.settimeout(60)
        self._rest = behind[0]
        self.open = set()
        self.said = []

    def _exactly(self, count):
        while len(self._rest) < count:
            more = self._socket.recv(65536)
            if not more:
                raise OSError("the server closed the socket")
            self._rest += more
        data, self._rest = self._rest[:count], self._rest[count:]
        return data

    def _text(self):
        """The next text; anything else a socket says is passed over."""
        while True:
            first, length = self._exactly(2)
            if length == 126:
                length = int.from_bytes(self._exactly(2), "big")
            payload = self._exactly(length)
            if first & 15 == 1:
                return payload.decode()

    def hear(self, count=0):
        """Hears so many texts, and on until every request is answered."""
        while count > 0 or self.open:
            text = self._text()
            self.said.append(text)
            count -= 1
            self.open.discard(json.loads(text)["d"].get("r"))

    def ask(self, text):
        self.open.add(json.loads(text)["d"]["r"])
        self._socket.sendall(frame(text.encode()))

    def close(self):
        self._socket.close()


def steady(text):
    """A text without what is another at each start of a server."""
    if '"t":"h"' not in text:
        return text
    text = re.sub(r'"ts":\d+', '"ts":1000000', text)
    text = re.sub(r'"h":"[^"]*"', '"h":"localhost:9000"', text)
    return re.sub(r'"s":"[^"]*"', '"s":"s1"', text)


def recorded():
    with open(FILE, encoding="utf-8") as file:
        return file.read().splitlines()


def play(server, lines):
    """The lines with what this server says."""
    asking = Connection(server.port)
    result, connection, heard = [], None, False

    def settle(count=0):
        if connection is None:
            return
        connection.hear(count)
        result.extend(f"< {steady(text)}" for text in connection.said)
        connection.said = []

    for line in lines:
        mark, text = line[:1], line[2:]
        if mark == "<":
            heard = True
            continue
        if mark != ">" or heard:
            settle()
        heard = False
        result.append(line)
        if mark == ">":
            connection.ask(text)
        elif line == "= connect":
            connection = Socket(server)
            settle(1)
        elif line == "= close":
            connection.close()
            connection = None
        elif mark == "=":
            method, pushes, path, body = text.split(" ", 3)
            answer = asking.ask(method, path, json.loads(body))
            if answer.status != 200:
                raise RuntimeError(f"{text}: {answer.status} {answer.text}")
            settle(int(pushes))
    settle()
    return result


def recording(options, data, checks):
    """The program says what it said when the conversation was recorded."""
    server = Server(options.program, "--data", data)
    server.await_address()
    before = recorded()
    after = play(server, before)
    server.stop()
    first = next((pair for pair in zip(before, after) if pair[0] != pair[1]), None)
    checks.check(f"the recorded conversation of {sum(line[:1] == '<' for line in before)} messages is what the program says today",
                 before == after and len(before) > 50, f"{len(before)} and {len(after)} lines; first difference {first}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="doubloon-recording-") as folder:
        server = Server(options.program, "--data", os.path.join(folder, "data"))
        server.await_address()
        lines = play(server, recorded())
        server.stop()
    with open(FILE, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
