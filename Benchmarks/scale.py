#!/usr/bin/env python3
"""What a store with two nodes and a PostgreSQL of three servers costs for each write, and from that what a large studio takes.

    Scripts/test release benchmarks
    Benchmarks/scale.py                        # measures for some ten minutes; --help lists what is assumed
    Benchmarks/scale.py --recorded             # computes and simulates with the recorded figures: a minute, and nothing to start

What is measured, all of it on this machine, is the processor time of each process, which holds still where rates do not. A write is a
seventh of a referral lifecycle, with its share of two grants and two reads (README.md). Everything beyond one store is arithmetic and
a simulation, and is said to be: one store has one leading node that does all its work; a larger game is divided into stores of its own,
and no reward goes from one store to another.
"""

import argparse
import json
import os
import platform
import sys

import scale_arithmetic as arithmetic
import scale_telling as telling
from scale_simulation import simulate

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(HERE, "scale_recorded.json")
MOVED = 0.25


def flat(figures):
    """Figures that are compared, by name."""
    found = {}
    for row in figures["writes"]:
        for name in ("leader", "follower", "handing on", "primary", "standby", "log", "bytes"):
            if name in row or name in ("primary", "standby"):
                found[f"{name}, {row['clients']} clients"] = arithmetic.value(row, name)
    for part in ("disk", "sockets", "base"):
        found.update({f"{part}: {name}": number for name, number in (figures[part] or {}).items() if (part, name) != ("base", "bytes")})
    return found


def moved(figures, recorded):
    """Which figures are not within a quarter of those that were recorded."""
    ours, theirs = flat(figures), flat(recorded)
    return [(name, theirs[name], ours[name]) for name in ours if name in theirs and theirs[name]
            and abs(ours[name] / theirs[name] - 1) > MOVED]


def measured(options):
    import scale_measuring
    from scale_parts import Rig

    rig = Rig(options.program, options.lifecycle, max(options.clients))
    try:
        rig.start()
        figures = scale_measuring.measure(rig, options)
    finally:
        rig.close()
    with open("/proc/cpuinfo") as file:
        names = [text.split(":")[1].strip() for text in file if text.startswith("model name")]
    figures["machine"] = (
        f"{os.cpu_count()} processors ({names[0] if names else platform.machine()}) for everything: both nodes, the clients, the primary "
        f"and both standbys; {options.rounds} rounds of {options.seconds:g} s, medians")
    return figures


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=".build/release/doubloon")
    parser.add_argument("--lifecycle", default=".build/release/lifecycle")
    parser.add_argument("--clients", type=int, nargs="+", default=[16, 64, 128, 256])
    parser.add_argument("--mark-clients", type=int, nargs="+", default=[64, 128, 256], help="beside writes one by one; among --clients")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--sockets-tried", type=int, default=4000)
    parser.add_argument("--small", action="store_true", help="a moment, to see that it works: what takes longer is taken from the record")
    parser.add_argument("--mark-only", action="store_true", help="PostgreSQL's processor time with batches beside ungrouped writes, alone")
    parser.add_argument("--recorded", action="store_true", help="measure nothing")
    parser.add_argument("--figures", default=RECORDED, help="the record")
    parser.add_argument("--record", help="write what was measured into this file")
    parser.add_argument("--json", action="store_true", help="everything, for programs")
    parser.add_argument("--strict", action="store_true", help="exit code 1 if a figure moved by more than a quarter, or a mark is missed")
    parser.add_argument("--no-simulation", action="store_true")
    parser.add_argument("--random", type=int, default=1, help="what the simulation's chance begins with")
    parser.add_argument("--events", type=float, default=16_000, help="batches a second that are simulated; of more, a share is")
    parser.add_argument("--takeover", type=float, default=5, help="seconds until a dead node's stores are taken over")
    parser.add_argument("--promotion", type=float, default=20, help="seconds until a standby is promoted")
    for name, value, meaning in arithmetic.ASSUMED:
        parser.add_argument(f"--{name}", type=float, default=value, help=f"{meaning} ({value:g})")
    options = parser.parse_args()
    if options.small:
        options.rounds, options.seconds, options.clients, options.mark_clients, options.sockets_tried = 1, 1, [16], [16], 200
    if not set(options.mark_clients) <= set(options.clients):
        parser.error("--mark-clients are among --clients")
    return options


def main():
    options = arguments()
    with open(options.figures) as file:
        recorded = json.load(file)
    recorded = recorded.get("figures", recorded)
    figures = recorded if options.recorded else measured(options)
    if options.mark_only:
        print(json.dumps(figures["mark"], indent=1)) if options.json else telling.tell_mark(figures)
        sys.exit(1 if options.strict and telling.missed(figures) else 0)
    borrowed = [part for part in ("base", "disk") if not figures[part]]
    for part in borrowed:
        figures[part] = recorded[part]
    if options.record:
        with open(options.record, "w") as file:
            json.dump({"figures": figures}, file, indent=1)
            file.write("\n")
    assumed = {name: getattr(options, name.replace("-", "_")) for name, _, _ in arithmetic.ASSUMED}
    # A moment is not enough for the line through small and large batches.
    basis = recorded if options.small else figures
    today, plan = arithmetic.fewest(basis, assumed)
    changes = [] if options.recorded else moved(figures, recorded)
    played = None if options.no_simulation else simulate(basis, assumed, plan, options)
    missed = telling.missed(figures)
    if options.json:
        print(json.dumps({
            "figures": figures, "borrowed": borrowed, "assumed": assumed, "today": today, "chosen": plan,
            "moved": changes, "simulation": played, "missed": missed}, indent=1))
    else:
        telling.tell_figures(figures, borrowed, measured_now=not options.recorded)
        if not options.recorded:
            telling.tell_changes(changes, recorded)
        telling.tell_arithmetic(basis, assumed, today, plan)
        if played:
            telling.tell_simulation(played, plan, options)
    if options.strict and (changes or missed):
        sys.exit(1)


if __name__ == "__main__":
    main()
