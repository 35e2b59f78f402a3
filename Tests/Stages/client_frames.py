"""What Firebase's JavaScript client sends in eighteen acts is recorded in Tests/Fixtures/client/requests.txt; the Swift library must send
the same, in the same order. What each client is free in is left out: numbers of requests, statistics, keys of writes, texts that only
keep a line open. To record it again:

    python3 Tests/Stages/client_frames.py --program .build/release/doubloon --firebase .build/firebase-js
"""

import argparse
import json
import os
import socket
import sys
import tempfile
import threading

from server import Connection, Server

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Fixtures", "client", "requests.txt")

RULES = {"rules": {".read": True, "no": {".write": False}, "$other": {".write": True}}}

# What stands there before: what a client remembers of it after a broken connection has the same hash for both.
TREE = {"a": {"n": 3, "text": "é", "half": 0.5, "10": True, "deep": {"x": {".value": "y", ".priority": 2}}}, "w": {"k1": 1, "k2": 2, "k3": 3}}

# What both are told to do, and how the line begins that says it is done; each is awaited before the next.
ACTS = [
    ("listen a all 0", "event a value"), ("listen w value 2", "event w value"), ("presence here", "present"),
    ("add b 1", "done 1"), ("add b 2", "done 2"), ("count a/n 2", "counted"), ("count m 2", "counted"), ("read other", "value"),
    ("presence no", "error"), ("sync", "synced"), ("offline", None), ("add b 3", None), ("add b 4", None), ("online", "done 4"),
    ("presence here", "present"), ("offline", None), ("online", None), ("sync", "synced"),
]


class Tap:
    """Passes connections on to a server, and keeps the texts that clients send over their sockets."""

    def __init__(self, port):
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.texts = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
            except OSError:
                return
            threading.Thread(target=self._pass, args=(client, server, self._texts()), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, None), daemon=True).start()

    @staticmethod
    def _pass(source, target, reader):
        """All bytes from one side to the other; a reader sees them before."""
        if reader:
            next(reader)
        try:
            while data := source.recv(65536):
                if reader:
                    reader.send(data)
                target.sendall(data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _texts(self):
        """Takes a client's bytes, and keeps the texts in its frames (RFC 6455 section 5.2)."""
        rest = b""
        while b"\r\n\r\n" not in rest:
            rest += yield
        rest = rest.split(b"\r\n\r\n", 1)[1]
        while True:
            while len(rest) < 2:
                rest += yield
            kind, length, at = rest[0] & 15, rest[1] & 127, 2
            if length > 125:
                at = 4 if length == 126 else 10
                while len(rest) < at:
                    rest += yield
                length = int.from_bytes(rest[2:at], "big")
            while len(rest) < at + 4 + length:
                rest += yield
            mask, data = rest[at:at + 4], rest[at + 4:at + 4 + length]
            rest = rest[at + 4 + length:]
            if kind == 1:
                self.texts.append(bytes(byte ^ mask[index % 4] for index, byte in enumerate(data)).decode())

    def close(self):
        self._listener.close()


def requests(texts):
    """The requests in a client's texts, without what each client is free in."""
    found = []
    for text in texts:
        request = json.loads(text) if text.startswith("{") else {}
        if request.get("t") != "d" or request["d"]["a"] == "s":
            continue
        body = dict(request["d"]["b"])
        body.pop("k", None)
        found.append(json.dumps([request["d"]["a"], body], sort_keys=True))
    return found


def recorded():
    with open(FILE, encoding="utf-8") as file:
        return file.read().splitlines()


def sent(program, data, command, Device):
    """What a client sends to a server of its own in all acts, and the act that does not come to its end, with what was said then."""
    server = Server(program, "--data", data, "--project", "game")
    tap = Tap(server.await_address())
    asking = Connection(server.port)
    asking.ask("PUT", "/.settings/rules.json", RULES)
    asking.ask("PUT", "/.json", TREE)
    device = Device(command(f"http://127.0.0.1:{tap.port}"))
    try:
        for act, end in [(None, "ready"), *ACTS]:
            if act:
                device.say(act)
            if end and device.hear(end) is None:
                return requests(tap.texts), f"{act}: {device.seen[-5:]}"
        return requests(tap.texts), None
    finally:
        device.kill()
        tap.close()
        server.stop()


def script(firebase):
    """The command that starts the JavaScript client."""
    peer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client_peer.cjs")
    return lambda url: ["node", peer, url, os.path.abspath(firebase), "game-default-rtdb"]


def frames(options, data, folder, checks, Device):
    """The Swift library sends what is recorded, and so does the JavaScript client where it is to be had."""
    clients = {"the Swift library": lambda url: [options.client, url, os.path.join(folder, "frames")]}
    if options.firebase:
        clients["the JavaScript client"] = script(options.firebase)
    expected = recorded()
    for name, command in clients.items():
        found, missing = sent(options.program, os.path.join(data, name.split()[1]), command, Device)
        checks.check(f"{name} does all {len(ACTS)} acts", missing is None, str(missing))
        first = next((number for number, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), None)
        checks.check(f"{name} sends the {len(expected)} requests that the JavaScript client was recorded with, in their order",
                     found == expected and len(expected) > 25,
                     f"{len(found)}; first difference {first}: {found[first] if first is not None else ''}")


def main():
    from client_stage import Device

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--firebase", required=True, help="a folder with the packages @firebase/app and @firebase/database for Node")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="doubloon-requests-") as folder:
        found, missing = sent(options.program, os.path.join(folder, "data"), script(options.firebase), Device)
    if missing:
        sys.exit(missing)
    with open(FILE, "w", encoding="utf-8") as file:
        file.write("\n".join(found) + "\n")


if __name__ == "__main__":
    main()
