#!/usr/bin/env python3
"""What in-app messages cost: fetches with many installations and campaigns, and the referral lifecycle without a campaign that waits.

    Scripts/test release benchmarks
    Benchmarks/messages.py                                 # 10,000 installations, 50 campaigns; about two minutes
    Benchmarks/messages.py --lifecycle                     # and the lifecycle with 50 campaigns that wait for none of it, beside drafts
    Benchmarks/messages.py --before OLD/doubloon           # and the lifecycle beside another program, such as a former version

Fetches are timed from the first byte sent to the last byte read, over connections that stay open, each with one request at a time;
the client is this script, on the same machine, and what it does between two requests is not counted. The lifecycles are those of
beside.py, in turns; CPU for each is the figure to compare, for the machine's speed drifts.
"""

import argparse
import itertools
import json
import os
import random
import socket
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Stages"))
import beside  # noqa: E402
from server import Connection, Server  # noqa: E402

MARKS = {"p50": 2.0, "p99": 10.0, "MB": 5.0}
LANGUAGES = ("en", "pl", "de", "fa")
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def campaign(number, server_event=True):
    """One of many: four layouts, all kinds of triggers and conditions, so that an installation gets some thirty of fifty."""
    layout = ("modal", "banner", "card", "imageOnly")[number % 4]
    texts = {language: {"title": f"Number {number} {{{{player.name|friend}}}}", "body": "Invite a friend, and both of you get coins. " * 3}
             for language in LANGUAGES}
    content = {"defaultLanguage": "en", "texts": texts}
    if layout == "card":
        content.update(portraitImage="https://cdn.acme.test/p.png", landscapeImage="https://cdn.acme.test/l.png",
                       primaryAction="https://acme.test/invite", secondaryAction=None)
        for words in texts.values():
            words.update(primary="Invite", secondary="Later")
    if layout == "imageOnly":
        content = {"defaultLanguage": "en", "image": "https://cdn.acme.test/i.png", "imageAlt": {"en": "A chest"}}
    triggers = [{"on": "foreground"}] if number % 3 else [{"event": f"level_{number}"}]
    if server_event and number % 10 == 9:
        triggers = [{"server": "reward", "where": {"amount": {">=": 50}}}]
    document = {"id": f"campaign{number}", "name": f"Campaign {number}", "layout": layout, "content": content, "triggers": triggers,
                "priority": 1 + number % 10, "frequency": {"lifetime": 5, "caps": [{"count": 1, "days": 7}]}}
    if number % 5 == 1:
        document["audience"] = {"platforms": ["ios"], "appVersion": {">=": "2.0"}}
    if number % 5 == 2:
        document["audience"] = {"languages": ["pl", "en"], "percent": 50}
    if number % 5 == 3:
        document["schedule"] = {"start": "2020-01-01T09:00", "timeZone": "Europe/Warsaw"}
    if number % 7 == 3:
        document["variants"] = [{"name": "a", "weight": 50}, {"name": "b", "weight": 50, "control": True}]
    return document


def publish(port, count, server_event=True, publishes=True):
    """Makes campaigns and publishes them; or writes the drafts once more, which takes the server as long."""
    connection = Connection(port)
    for number in range(count):
        document = campaign(number, server_event)
        again = ("POST", f"/campaign{number}/publish", {}) if publishes else ("PUT", f"/campaign{number}", document)
        for method, path, body in (("POST", "", document), again):
            answer = connection.ask(method, f"/admin/v1/messages{path}", body)
            if answer.status != 200:
                raise SystemExit(f"The campaign {number} was refused: {answer.text[:500]}")
    connection.close()


class Client:
    """One connection that stays open. Answers are read to their last byte, and not looked into."""

    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def fetch(self, request):
        """Milliseconds, and the bytes of the answer."""
        begin = time.perf_counter()
        self._socket.sendall(request)
        data = bytearray()
        end = None
        while end is None or len(data) < end:
            piece = self._socket.recv(1 << 18)
            if not piece:
                raise SystemExit("The server closed a connection.")
            data += piece
            if end is None and (head := data.find(b"\r\n\r\n")) >= 0:
                length = next(line.split(b":")[1] for line in bytes(data[:head]).lower().split(b"\r\n")
                              if line.startswith(b"content-length:"))
                end = head + 4 + int(length)
        took = (time.perf_counter() - begin) * 1000
        if not data.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"A fetch was refused: {bytes(data[:600])}")
        return took, end


def request(number):
    """What an app sends for one installation; every second one shows as a client of this server's."""
    seed = random.Random(number)
    fid = "c" + "".join(seed.choice(ALPHABET) for _ in range(21))
    body = json.dumps({
        "requesting_client_app": {"gmp_app_id": "1:77:ios:ab", "app_instance_id": fid},
        "client_signals": {"app_version": "2.1", "platform_version": "18.0.0", "language_code": LANGUAGES[number % 4],
                           "time_zone": "Europe/Warsaw"}}).encode()
    own = b"X-Doubloon-Client: benchmark/1\r\n" if number % 2 else b""
    return (b"POST /v1/sdkServing/projects/77/eligibleCampaigns:fetch?key=k HTTP/1.1\r\nHost: 127.0.0.1\r\n" + own
            + b"Content-Type: application/json\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body)


def together(port, requests, connections):
    """Fetches over so many connections at once: the times and the sizes."""
    results, faults = [], []

    def run(part):
        try:
            client = Client(port)
            results.extend([client.fetch(one) for one in part])
        except SystemExit as error:
            faults.append(error)

    threads = [threading.Thread(target=run, args=(requests[number::connections],)) for number in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return results


def resident(server):
    """MB that the server holds."""
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def fetches(options):
    with tempfile.TemporaryDirectory(prefix="messages-", dir=options.folder) as folder:
        server = Server(options.program, "--data", f"{folder}/data")
        try:
            port = server.await_address()
            # What the first campaigns take is the program's own: pages of its code, caches of the store.
            publish(port, options.campaigns, publishes=False)
            begin, connection = resident(server), Connection(port)
            for number in range(options.campaigns):
                answer = connection.ask("POST", f"/admin/v1/messages/campaign{number}/publish", {})
                if answer.status != 200:
                    raise SystemExit(f"The campaign {number} was refused: {answer.text[:500]}")
            connection.close()
            together(port, [request(0)], 1)
            print(f"memory {options.campaigns} campaigns, published and chosen from: {resident(server) - begin:.1f} MB "
                  f"(mark {MARKS['MB']:.0f})", flush=True)
            requests = [request(number) for number in range(options.installations)]
            together(port, requests, 8)  # the first fetch of an installation writes it down
            # In an order by chance, but all equally often: an installation may fetch ten times at once, and is refused then.
            turns = itertools.cycle(random.Random(7).sample(requests, len(requests)))
            for connections in options.connections:
                together(port, list(itertools.islice(turns, options.fetches // 10)), connections)
                chosen = list(itertools.islice(turns, options.fetches))
                results = together(port, chosen, connections)
                times = sorted(took for took, _ in results)
                p50, p99 = times[len(times) // 2], times[min(len(times) - 1, len(times) * 99 // 100)]
                print(f"fetch  {options.installations:,} installations, {options.campaigns} campaigns, {connections} at once: "
                      f"p50 {p50:.2f} ms (mark {MARKS['p50']:.0f}), p99 {p99:.2f} ms (mark {MARKS['p99']:.0f}); "
                      f"{statistics.mean(size for _, size in results) / 1024:.1f} KB each", flush=True)
        finally:
            server.stop()


class WithCampaigns(beside.Doubloon):
    """The program with campaigns that wait for nothing of the lifecycle, or with as many drafts: what they took is in both figures."""

    def __init__(self, program, count, publishes):
        super().__init__(program, "rest")
        self.name, self.count, self.publishes = f"{count} {'published' if publishes else 'drafts'}", count, publishes

    def begin(self, folder, port):
        publish(port, self.count, server_event=False, publishes=self.publishes)


def lifecycles(options):
    former = beside.Doubloon(os.path.abspath(options.before), "rest") if options.before else None
    pairs = []
    if options.lifecycle:
        pairs.append((WithCampaigns(options.program, options.campaigns, True), WithCampaigns(options.program, options.campaigns, False)))
    if former:
        now = beside.Doubloon(options.program, "rest")
        now.name, former.name = "now", "before"
        pairs.append((now, former))
    options.perf = options.random = False
    for pair in pairs:
        beside.compared(pair, options, "within 2 %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=".build/release/doubloon")
    parser.add_argument("--driver", default=".build/release/lifecycle", help="of the lifecycle")
    parser.add_argument("--installations", type=int, default=10_000)
    parser.add_argument("--campaigns", type=int, default=50)
    parser.add_argument("--fetches", type=int, default=20_000)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--lifecycle", action="store_true", help="the lifecycle with campaigns that wait for none of it, beside drafts")
    parser.add_argument("--before", help="another program that the lifecycle is compared with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--folder", default=".build", help="where the data are: on the disk where yours would be")
    options = parser.parse_args()
    options.program, options.driver = os.path.abspath(options.program), os.path.abspath(options.driver)
    options.folder = os.path.abspath(options.folder)
    if 1 + 1.1 * options.fetches * len(options.connections) / options.installations > 9:
        raise SystemExit("An installation may fetch ten times at once: name more --installations, or fewer --fetches.")
    fetches(options)
    if options.lifecycle or options.before:
        lifecycles(options)


if __name__ == "__main__":
    main()
