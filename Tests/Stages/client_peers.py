"""The Swift library and the JavaScript client on one tree: both are told the same events in the same order, and count together."""

import json
import os
import subprocess

from server import Connection, Server

KEYS = ["a", "b", "c", "d", "e"]


def events(device):
    """What a client was told, in order; values as they compare."""
    told = []
    for line in device.seen:
        if not line.startswith("event "):
            continue
        _, name, kind, key, previous, value = line.split(" ", 5)
        told.append((name, kind, key, previous if kind in ("added", "changed", "moved") else "-", json.dumps(json.loads(value), sort_keys=True)))
    return told


def ends(device):
    """Whether a client was told the last change of both places; a place's value comes behind its children."""
    values = [line for line in device.seen if line.startswith(("event peers value ", "event window value "))]
    return any('"last"' in line for line in values) and any('"z"' in line for line in values)


def change(asking, chance, step):
    """One change of the tree, by an administrator."""
    key = chance.choice(KEYS)
    kind = chance.randrange(5)
    if kind == 0:
        asking.ask("DELETE", f"/peers/{key}.json")
    elif kind == 1:
        asking.ask("PATCH", "/peers.json", {key: step, f"{chance.choice(KEYS)}x/deep": step})
    elif kind == 2:
        asking.ask("PUT", f"/peers/{key}/n.json", step)
    elif kind == 3:
        asking.ask("PUT", f"/peers/{key}.json", {".value": step, ".priority": chance.randrange(4)})
    else:
        asking.ask("PUT", f"/peers/{key}.json", {"s": "text", "n": step})


def peers(options, data, folder, chance, checks, Device):
    """The same changes, seen by both."""
    server = Server(options.program, "--data", data, "--project", "game")
    port = server.await_address()
    asking = Connection(port)
    here = os.path.dirname(os.path.abspath(__file__))
    swift = Device([options.client, f"http://127.0.0.1:{port}", os.path.join(folder, "peer")])
    script = Device(["node", os.path.join(here, "client_peer.cjs"), f"http://127.0.0.1:{port}", os.path.abspath(options.firebase),
                     "game-default-rtdb"])
    both = (swift, script)
    try:
        started = [device.hear("ready") for device in both]
        if not checks.check("both clients start", None not in started, f"{swift.seen} {script.seen}"):
            return
        for device in both:
            device.say("listen peers all 0")
            device.say("listen window all 2")
            device.hear("event window value")
        for step in range(150):
            change(asking, chance, step)
            asking.ask("PUT", f"/window/k{chance.randrange(6)}.json", step if chance.randrange(3) else None)
        asking.ask("PUT", "/peers/last.json", "end")
        asking.ask("PUT", "/window/z.json", "end")
        for device in both:
            while not ends(device) and device.hear("event", seconds=180) is not None:
                pass
        for name in ("peers", "window"):
            told = [[event for event in events(device) if event[0] == name] for device in both]
            first = next((pair for pair in zip(*told) if pair[0] != pair[1]), None)
            checks.check(f"of 150 changes of /{name} both clients are told the same {len(told[0])} events in the same order",
                         told[0] == told[1] and len(told[0]) > 50, f"{len(told[0])} and {len(told[1])}; first difference {first}")
        for device in both:
            device.say("count together 50")
            for number in range(50):
                device.say(f"add {'swift' if device is swift else 'script'} {number + 1}")
        counted = [device.hear("counted", seconds=300) for device in both]
        for device in both:
            device.say("sync")
            device.hear("synced")
        tree = asking.ask("GET", "/.json").json
        checks.check("both count one number together, exactly", tree.get("together") == 100 and None not in counted, f"{tree.get('together')}")
        counts = [tree.get(name, {}).get("count") for name in ("swift", "script")]
        checks.check("what both write arrives once each", counts == [50, 50], f"{counts}")
    finally:
        for device in both:
            device.kill()
        server.stop()
