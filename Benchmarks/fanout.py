#!/usr/bin/env python3
"""One writer and many listeners over real sockets: Doubloon beside Redis' publish and subscribe, in turns.

    Scripts/test release benchmarks
    Benchmarks/fanout.py                                       # 1,000 listeners, five rounds, about two minutes
    Benchmarks/fanout.py --before build/old/doubloon           # an older program takes part
    Benchmarks/fanout.py --rounds 1 --seconds 1 --listeners 50

Four publications are under way at a time. Doubloon's are durable writes, told over its socket or as event streams; Redis keeps nothing. Every
listener must be told of every publication, in order; one that is told of an older one ends the benchmark. Redis takes part where it
is installed (Debian: redis-server). CPU is the server's for each delivery, listening included.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess

from beside import Doubloon, Peer, Run, spread


class Redis(Peer):
    def __init__(self, program):
        super().__init__("redis", "redis")
        self.program = program

    def prepare(self, folder, port):
        os.makedirs(f"{folder}/data")

    def command(self, folder, port):
        return [self.program, "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", f"{folder}/data"]


def named(peer, name):
    peer.name = name
    return peer


def peers(options):
    found = [named(Doubloon(options.program, kind), f"doubloon {kind}") for kind in ("socket", "stream")]
    if options.before:
        found += [named(Doubloon(os.path.abspath(options.before), kind), f"before {kind}") for kind in ("socket", "stream")]
    redis = shutil.which("redis-server")
    if redis:
        found.append(Redis(redis))
    else:
        print("Redis is not installed; apt-get install redis-server brings it.")
    return found


def measured(peer, options):
    run = Run(peer, options)
    try:
        run.await_answer()
        said = subprocess.run(
            [options.driver, peer.kind, "--port", str(run.port), "--listeners", str(options.listeners), "--seconds", str(options.seconds),
             "--warm-up", str(min(1, options.seconds))], capture_output=True, text=True)
        if said.returncode:
            raise SystemExit(f"{peer.name}: {said.stdout}{said.stderr}")
        result = json.loads(said.stdout)
    except BaseException:
        run.process.kill()
        raise
    cpu, _ = run.stop()
    # The warm-up is the server's work, too.
    result["cpu"] = 1e6 * cpu / max(1, result["deliveries"] * (1 + min(1, options.seconds) / options.seconds))
    run.remove()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=".build/release/doubloon")
    parser.add_argument("--before", help="another doubloon to compare with")
    parser.add_argument("--driver", default=".build/release/fanout")
    parser.add_argument("--listeners", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--folder", default=".build", help="where the data are: on the disk where yours would be")
    options = parser.parse_args()
    options.program, options.driver, options.perf = os.path.abspath(options.program), os.path.abspath(options.driver), False
    options.folder = os.path.abspath(options.folder)
    for program in (options.program, options.driver):
        if not os.path.exists(program):
            raise SystemExit(f"There is no {program}: Scripts/test release benchmarks makes both.")
    # A socket for each listener, here and in the server.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    everybody = peers(options)
    results = {peer: [] for peer in everybody}
    for number in range(options.rounds):
        for peer in everybody if number % 2 == 0 else reversed(everybody):
            results[peer].append(measured(peer, options))
    print(f"{options.listeners} listeners, {options.rounds} rounds; medians (from-to)")
    last = [one["deliveriesPerSecond"] for one in results[everybody[-1]]]
    for peer in everybody:
        rates = [one["deliveriesPerSecond"] for one in results[peer]]
        ratio = "" if peer is everybody[-1] else f"  {everybody[-1].name} {spread([a / b for a, b in zip(rates, last)], '{:.2f}')}"
        print(f"  {peer.name:16} {spread(rates):>28}/s  CPU {spread([one['cpu'] for one in results[peer]], '{:.2f}')} µs  "
              f"p50 {statistics.median(one['p50'] for one in results[peer]):.1f} p99 {statistics.median(one['p99'] for one in results[peer]):.1f} ms  "
              f"left out {sum(one['leftOut'] for one in results[peer])}{ratio}", flush=True)


if __name__ == "__main__":
    main()
