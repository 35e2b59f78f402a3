"""Input that never ends and output that nobody reads: whatever clients send, the server's memory stays within 256 MB of what it
has when nothing happens, and returns afterwards to one and a half times of that."""

import json
import socket
import struct
import threading
import time

MARGIN = 256 << 20
RETURNS_SECONDS = 240

# The resident bytes before the first attack.
quiet = {}


class Peak:
    """The most memory that the server had while the block ran: `with Peak(server) as peak:`."""

    def __init__(self, server):
        self._server = server
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.bytes = 0

    def _watch(self):
        while not self._done.wait(0.02):
            self.bytes = max(self.bytes, self._server.resident())

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        # Once the last of what was sent has been taken in.
        time.sleep(0.5)
        self._done.set()
        self._thread.join()


def bounded(server, checks, name, attack):
    """Runs an attack, which returns its connections, and checks the mark while they are open, and what stays behind them."""
    begin = quiet.setdefault("bytes", server.resident())
    with Peak(server) as peak:
        connections = attack()
    for connection in connections:
        connection.close()
    checks.check(
        f"{name} stay within {MARGIN >> 20} MB of the quiet memory", peak.bytes <= begin + MARGIN,
        f"{begin >> 20} MB quiet, {peak.bytes >> 20} MB at most")
    returns(server, checks, name)


def returns(server, checks, name):
    """Checks that the memory returns; the next attack begins when it has."""
    limit = quiet["bytes"] * 3 // 2
    begin = time.monotonic()
    resident = server.resident()
    while resident > limit and time.monotonic() - begin < RETURNS_SECONDS:
        time.sleep(0.5)
        resident = server.resident()
    checks.check(
        f"behind {name} the memory returns to one and a half times of what it was", resident <= limit,
        f"{quiet['bytes'] >> 20} MB quiet, {resident >> 20} MB after {time.monotonic() - begin:.0f} s")


def connect(server):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=120)
    return connection


def pour(connection, data):
    """Sends what the server takes; it may close whenever it likes, or read no more. Returns whether it took all."""
    connection.settimeout(2)
    try:
        connection.sendall(data)
        return True
    except OSError:
        return False


def in_threads(count, work):
    results = [None] * count

    def run(index):
        try:
            results[index] = work(index)
        except OSError:  # the server takes no more of this: that is what it is for
            pass

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [result for result in results if result is not None]


def head(method, path, address, more=""):
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {address}\r\n{more}".encode()


def websocket(server, address, receive_buffer=None, path="/.ws?v=5", behind=None):
    """A socket that was accepted; what came behind the answer is added to the list `behind`."""
    connection = socket.socket()
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(120)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(head(
        "GET", path, address,
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"))
    answer = connection.recv(4096)
    if b" 101 " not in answer:
        raise OSError(answer.decode("utf-8", "replace")[:200])
    if behind is not None:
        behind.append(answer.split(b"\r\n\r\n", 1)[1])
    return connection


def frame(payload, announced=None):
    """A client's text frame, masked with zeros; `announced` is the length that its header claims."""
    length = announced or len(payload)
    if length < 126:
        header = struct.pack("!BB", 0x81, 0x80 | length)
    elif length < 1 << 16:
        header = struct.pack("!BBH", 0x81, 0xFE, length)
    else:
        header = struct.pack("!BBQ", 0x81, 0xFF, length)
    return header + b"\0\0\0\0" + payload


def request(number, action, body):
    return frame(json.dumps({"t": "d", "d": {"r": number, "a": action, "b": body}}).encode())


def large_writes_without_credentials(server, checks):
    zeros = b"[" + b"0," * (8 << 20) + b"0]"
    text = b'"' + b"x" * (9 << 20) + b'"'
    places = [("/users/x.json", zeros), ("/guests/x.json", zeros), ("/guests/y.json", text), ("/users/y.json", text)]

    def write(index):
        path, body = places[index % 4]
        connection = connect(server)
        pour(connection, head("PUT", path, "198.51.100.1", f"Content-Length: {len(body)}\r\n\r\n") + body)
        try:
            connection.recv(4096)
        except OSError:
            pass
        return connection

    bounded(server, checks, "eight writes of up to 17 MB", lambda: in_threads(8, write))


def bodies_that_do_not_end(server, checks):
    part = b"x" * (4 << 20)

    def send(index):
        connection = connect(server)
        pour(connection, head("PUT", "/guests/x.json", "198.51.100.2", "Content-Length: 16000000\r\n\r\n") + part)
        return connection

    def attack():
        connections = []
        for _ in range(6):
            connections += in_threads(20, send)
        return connections

    bounded(server, checks, "120 bodies that do not end", attack)
    answer = server.player("203.0.113.2")
    answer = answer.ask("PUT", answer.home("/name"), "x" * 100_000)
    checks.check("and a player's write is taken", answer.status == 200, answer.text)


def frames_that_do_not_end(server, checks):
    part = frame(b"x" * (8 << 20), announced=16_000_000)

    def send(index):
        connection = websocket(server, "198.51.100.3")
        pour(connection, part)
        return connection

    def attack():
        connections = []
        for _ in range(3):
            connections += in_threads(20, send)
        return connections

    bounded(server, checks, "60 sockets with a partial frame", attack)


def headers_that_do_not_end(server, checks):
    lines = "".join(f"x-{number}: {'y' * 110}\r\n" for number in range(240))

    def attack():
        connections = []
        for _ in range(500):
            connection = connect(server)
            pour(connection, head("GET", "/board.json", "198.51.100.4", lines))
            connections.append(connection)
        return connections

    bounded(server, checks, "500 requests whose headers do not end", attack)


def long_polls(server, checks):
    def send(index):
        address = f"198.51.101.{index}"
        opening = connect(server)
        opening.sendall(head("GET", "/.lp?start=t&ser=1&cb=1&v=5", address) + b"\r\n")
        answer = b""
        while b"pRTLPCB(0" not in answer:
            more = opening.recv(65536)
            if not more:
                return opening
            answer += more
        _, _, rest = answer.partition(b"pLPCommand('start','")
        session, password = rest.split(b"'")[0].decode(), rest.split(b"'")[2].decode()
        # The first segment never comes, so the others wait.
        for number in range(1, 41):
            query = f"/.lp?id={session}&pw={password}&seg0={number}&ts0=900&d0={'A' * 30_000}"
            poll = connect(server)
            pour(poll, head("GET", query, address) + b"\r\n")
            poll.close()
        return opening

    bounded(server, checks, "segments of 40 long-polling sessions", lambda: in_threads(20, send) + in_threads(20, send))


def floods_of_listens(server, checks):
    def send(index):
        connection = websocket(server, "198.51.100.5")
        pour(connection, b"".join(request(n, "q", {"p": f"/board/{index}-{n}", "h": ""}) for n in range(5000)))
        return connection

    bounded(server, checks, "100,000 listens", lambda: in_threads(20, send))


def listens_that_say_much(server, checks):
    text = "h" * (8 << 20)

    def attack():
        connection = websocket(server, "198.51.100.8")
        for number in range(40):
            pour(connection, request(number, "q", {"p": f"/board/much-{number}", "h": text}))
        return [connection]

    bounded(server, checks, "40 listens with hashes of 8 MB", attack)


def moving(server, address):
    """A session, and a second socket that says it is to go on there."""
    behind = []
    first = websocket(server, address, behind=behind)
    hello = behind[0]
    while b'"s":"' not in hello:
        hello += first.recv(4096)
    session = hello.split(b'"s":"')[1].split(b'"')[0].decode()
    return first, websocket(server, address, path=f"/.ws?v=5&s={session}")


def messages_on_a_socket_to_move_to(server, checks):
    message = frame(json.dumps({"t": "c", "d": {"t": "x" * (16 << 20), "d": {}}}).encode())

    def attack():
        first, second = moving(server, "198.51.100.9")
        for _ in range(25):
            pour(second, message)
        return [first, second]

    bounded(server, checks, "25 control messages of 16 MB on a socket to move to", attack)


def pings_without_reading(server, checks):
    pings = b"\x89\x80\0\0\0\0" * 100_000

    def attack():
        first, second = moving(server, "198.51.100.10")
        end = time.monotonic() + 12
        while time.monotonic() < end and pour(second, pings):
            pass
        return [first, second]

    bounded(server, checks, "millions of pings whose answers nobody reads", attack)


def readers_that_never_read(server, checks):
    answer = server.admin().ask("PUT", "/board/big.json?print=silent", "x" * (8 << 20))
    checks.check("the administrator writes something large", answer.status == 204, answer.text)

    def ask(index):
        if index % 2:
            connection = websocket(server, "198.51.100.6", receive_buffer=4096)
            pour(connection, request(1, "g", {"p": "/board/big"}))
        else:
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(120)
            connection.connect(("127.0.0.1", server.port))
            pour(connection, head("GET", "/board/big.json", "198.51.100.6") + b"\r\n")
        return connection

    bounded(server, checks, "40 readers that never read", lambda: in_threads(40, ask))


def listeners_that_never_read(server, checks):
    wide = {f"c{number:03}": "x" * (80 << 10) for number in range(100)}
    answer = server.admin().ask("PUT", "/board/wide.json?print=silent", wide)
    checks.check("the administrator writes something wide", answer.status == 204, answer.text)

    # Each has a window of its own, so that nothing is read once for all.
    def ask(index):
        if index % 2:
            connection = websocket(server, "198.51.100.7", receive_buffer=4096)
            window = {"i": ".key", "l": 100 - index, "vf": "l"}
            pour(connection, request(1, "q", {"p": "/board/wide", "h": "", "q": window, "t": 1}))
        else:
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(120)
            connection.connect(("127.0.0.1", server.port))
            query = f"orderBy=%22%24key%22&limitToFirst={100 - index}"
            pour(connection, head(
                "GET", f"/board/wide.json?{query}", "198.51.100.7", "Accept: text/event-stream\r\n") + b"\r\n")
        return connection

    bounded(server, checks, "40 listeners that never read", lambda: in_threads(40, ask))


def large_values_overwritten(server, checks):
    admin = server.admin()

    def attack():
        for number in range(200):
            answer = admin.ask("PUT", "/board/often.json?print=silent", f"{number}" + "x" * (1 << 20))
            if answer.status != 204:
                checks.check("a large value is overwritten", False, answer.text)
                break
        return []

    bounded(server, checks, "200 overwrites of 1 MB", attack)


CHECKS = [
    large_writes_without_credentials, bodies_that_do_not_end, frames_that_do_not_end, headers_that_do_not_end, long_polls,
    floods_of_listens, listens_that_say_much, messages_on_a_socket_to_move_to, pings_without_reading, readers_that_never_read,
    listeners_that_never_read, large_values_overwritten,
]
