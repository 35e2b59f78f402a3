"""How scale.py prints what it has measured, computed and simulated."""

import math
import statistics

import scale_arithmetic as arithmetic
from scale_arithmetic import DAY, GB, MB

# Batches of 64 cost PostgreSQL at most this share of what ungrouped writes cost it. A batch counts as one of 64 from so many writes on.
MARK, MARK_BATCH = 0.25, 48


def size(number):
    for unit, name in ((1e15, "PB"), (1e12, "TB"), (GB, "GB"), (MB, "MB"), (1e3, "KB")):
        if number >= 0.9995 * unit:
            return f"{number / unit:.3g} {name}"
    return f"{number:.0f} bytes"


def table(headings, rows):
    """Columns as wide as what stands in them, to the right."""
    cells = [headings, *([str(cell) for cell in row] for row in rows)]
    wide = [max(len(row[place]) for row in cells) for place in range(len(headings))]
    for row in cells:
        print("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, wide)))


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def everything(row):
    return arithmetic.value(row, "primary") + 2 * arithmetic.value(row, "standby")


def tell_figures(figures, borrowed, measured_now):
    print("MEASURED" if measured_now else "RECORDED", "-", figures["machine"])
    print("Microseconds of processor time for a write, clients connected to the node that leads; bytes a write:")
    rows = []
    for row in figures["writes"]:
        numbers = [row["rate"], row["leader"], row["thread"], row["follower"], row.get("handing on", 0), arithmetic.value(row, "primary"),
                   *(row[part] for part in arithmetic.PRIMARY), arithmetic.value(row, "standby"), row["log"], row["bytes"]]
        rows.append([row["clients"], f"{row['batch']:.1f}", *(f"{number:.0f}" for number in numbers)])
    table(["clients", "a batch", "writes/s", "leads", "a thread", "follows", "hands on", "primary", *arithmetic.PRIMARY, "standby", "log",
           "batch"], rows)
    print("  (a thread: the busiest of the node that leads; hands on: what the node that follows uses more for clients of its own;\n"
          "   of the primary: writing batches, reading them for the node that follows, sending them to standbys, and the rest)")
    idle = ", ".join(f"{name} {1000 * used:.0f}" for name, used in figures["idle"].items())
    print(f"Nobody asks: {idle} ms a second; not in the above")
    more = figures["upkeep"]
    print(f"All slices together, by their medians: leading x {more['leader']:.2f}, following x {more['follower']:.2f}, writing batches "
          f"x {more['writing']:.2f}, log x {more['log']:.2f}, batches x {more['bytes']:.2f}:\n"
          "  now and then the history is merged, through the same log")
    disk, kb, base = figures["disk"], figures["sockets"], figures["base"]
    print(f"Disk: a player takes {disk['whole']:.0f} bytes of a working copy after a lifecycle: {disk['player']:.0f} of its own, "
          f"{disk['grant']:.0f} for each of two rewards,\n  {disk['write']:.0f} of log and history for each of seven writes; in PostgreSQL "
          f"{disk['postgres grant']:.0f} for a reward")
    print(f"A base of {size(base['bytes'])}: for 2^20 bytes {base['leader']:.0f} us of the node that leads, {base['primary']:.0f} of the "
          f"primary, {base['standby']:.0f} of a standby;\n  for each byte {base['log']:.2f} of log, and {base['kept']:.2f} on the disk")
    print(f"A socket with a listen: {kb['direct']:.1f} KB of the leading node's own memory; handed on, {kb['through']:.1f} there and "
          f"{kb['handed on']:.1f} in the other node\n  (anonymous pages; what the kernel holds is not in it). "
          f"A process: {figures['process']['leader']:.0f} MB leading, {figures['process']['follower']:.0f} following")
    if borrowed:
        print(f"Not measured in this run, taken from the record: {', '.join(borrowed)}")
    tell_mark(figures)


def tell_mark(figures):
    print("PostgreSQL's processor time for a write in batches, by that for one ungrouped on the same three servers, median (from-to):")
    batches = {row["clients"]: row["batch"] for row in figures["writes"]}
    for row in figures["mark"]:
        is_same, batch = row["beside"] == "plain", batches[row["clients"]]
        what = "the same rows, one write a transaction" if is_same else "beside.sql's table and trigger"
        mark = ""
        if is_same and batch >= MARK_BATCH:
            mark = f"; mark {MARK}" + (", missed" if row["clients"] in missed(figures) else "")
        print(f"  {row['clients']} clients, {batch:.0f} writes a batch, {what}: primary {spread(row['primary'])}, with standbys "
              f"{spread(row['all'])} ({row['our all']:.0f} of {row['their all']:.0f} us){mark}")
    single = next((row for row in figures["writes"] if row["clients"] == 1), None)
    if single:
        print("  beside batches of one write, by one client: " + ", ".join(
            f"{row['clients']} clients {everything(row) / everything(single):.2f}" for row in figures["writes"] if row["clients"] > 1))
    print()


def missed(figures):
    """With how many clients batches of the mark's size cost PostgreSQL more than the mark allows."""
    batches = {row["clients"]: row["batch"] for row in figures["writes"]}
    return [row["clients"] for row in figures["mark"]
            if row["beside"] == "plain" and batches[row["clients"]] >= MARK_BATCH and statistics.median(row["all"]) > MARK]


def tell_changes(changes, recorded):
    print(f"BESIDE THE RECORD - {recorded['machine']}")
    for name, before, now in changes:
        print(f"  moved by more than a quarter: {name}: {before:.4g} was recorded, now {now:.4g}")
    print("" if changes else "  nothing moved by more than a quarter\n")


def tell_arithmetic(figures, assumed, tried, plan):
    a, costs, disk = assumed, arithmetic.Costs(figures), figures["disk"]
    stays, log = arithmetic.copy_bytes(figures, assumed)
    mean, bound = a["writes"] * a["average"], arithmetic.store_bound(figures, a)
    print("COMPUTED - one store was measured; that stores beside each other cost so much each is extrapolated, and with it all below")
    for name, _, meaning in arithmetic.ASSUMED:
        print(f"  assumed: {a[name]:>11,g}  {meaning}")
    print("The product today: one node does all work of one store. Larger games are stores beside each other (a project each),\n"
          "without rewards from one to another.")
    thread = costs.of("thread", 64)
    print(f"1. A store carries {1e6 / thread:,.0f} writes/s at {thread:.0f} us of its busiest thread; {a['fill']:.0%} of it: {bound:,.0f}\n"
          f"   {a['writes']:,.0f} x {a['skew']:g} / {bound:,.0f} = {math.ceil(a['writes'] * a['skew'] / bound)} stores at least, by writes")
    each = f"({disk['player']:.0f} + {a['entries']:g} x {disk['grant']:.0f})"
    print(f"2. One copy of everything: {a['players']:.0e} x {each} = {size(stays)} that stay; "
          f"{mean:,.0f} x {DAY:,} x {a['days']:g} x {disk['write']:.0f} = {size(log)} of log\n"
          f"   {size(stays + log)} / {a['copy']:g} GB = {math.ceil((stays + log) / (a['copy'] * GB))} stores at least, by size\n"
          f"   (while two in seven writes pay somebody, as in the lifecycle, {size(mean * DAY * 2 / 7 * disk['grant'])} a day more stay)")
    print("3. Fewer stores have larger batches, more have smaller copies, of which a base is made when a quarter has changed:")
    table(["stores", "a batch", "a copy", "a base after", "bases/s", "nodes' cores", "primaries' cores", "log/s", "nodes' machines",
           "cells", "machines"],
          [[row["stores"], f"{row['batch']:.1f}", size(row["copy"]), f"{row['interval']:,.0f} s", size(row["base rate"]),
            f"{row['node cores']:.0f}", f"{row['primary cores']:.0f}", size(row["log peak"]), row["node machines"], row["cells"],
            f"{row['machines']}{' <' if row is plan else '  '}"] for row in tried])
    p = plan
    zones = a["zones"] / (a["zones"] - 1)
    print(f"4. With {p['stores']} stores, each {a['writes'] / p['stores']:.0f} writes/s at the peak, {a['players'] / p['stores']:,.0f} "
          f"players, {a['sockets'] / p['stores']:,.0f} sockets:")
    print(f"   leading {p['leading']:.1f} + following {p['following']:.1f} + handing on {p['handing']:.1f} + telling {p['telling']:.1f} = "
          f"{p['node cores']:.1f} cores;\n   x {a['skew']:g} x {zones:.2g} for a lost zone / ({a['cores']:g} x {a['fill']:g}) = "
          f"{p['by cores']} machines")
    print(f"   memory: sockets {size(p['socket bytes'])} + processes {size(p['process bytes'])} + {a['hot']:.0%} of what stays, twice, "
          f"{size(p['hot bytes'])} = {size(p['node bytes'])}: {p['by memory']} machines")
    by = p["cells by"]
    print(f"   PostgreSQL: primaries {p['primary cores']:.1f} cores, each of two standbys {p['standby cores']:.1f}; cells by processors "
          f"{by['processors']}, by log {by['log']}, by disk {by['disk']}: {p['cells']}")
    print(f"   disk of PostgreSQL: rewards {size(p['rows'])} + two bases {size(p['bases'])} + batches {size(p['batches'])} = "
          f"{size(p['server bytes'])}, three times")
    print(f"   PostgreSQL's log: {size(p['log day of writes'])} a day for writes, {size(p['log day'])} with bases")
    copies = 2 * (stays + log)
    print(f"   working copies: 2 x {size(stays + log)} = {size(copies)}, {size(copies / p['node machines'])} a machine")
    print(f"   in all {p['node machines']} + 3 x {p['cells']} = {p['machines']} machines\n")


def tell_simulation(played, plan, options):
    print(f"SIMULATED - {played['stores']} of {plan['stores']} stores on {played['machines']} machines and {played['cells']} cells, "
          f"{played['seconds']:.0f} s, {played['writes']:,} writes;\n  takeover {options.takeover:g} s, promotion {options.promotion:g} s")
    whats = ("one machine with nodes dies", "one primary dies", "the rest of a zone dies, primaries among it")
    for what, fault in zip(whats, played["faults"]):
        print(f"  {what}: writes of {fault['stores'] * played['whole']:,.0f} stores stop for {fault['longest']:.1f} s at most; "
              f"{fault['players'] * played['whole']:,.0f} players notice")
    print(f"  from the first of them on: a write p50 {1000 * played['p50']:.1f} ms, p99 {played['p99']:.1f} s; "
          f"the busiest machine was asked for {played['busiest']:.0%} of what it can")
    print("  held: no write lost or made up; no store without a leading node for longer than "
          f"{options.takeover + 2:g} s while its PostgreSQL lives")
    print("  without faults, the load doubled (means of machines, the busiest behind it):")
    rows, first = [], None
    for load, seen in played["loads"]:
        rows.append([f"{load}", f"{seen['writes'] * played['whole']:,.0f}", f"{seen['nodes'][0]:.0%} {seen['nodes'][1]:.0%}",
                     f"{seen['primaries'][0]:.0%} {seen['primaries'][1]:.0%}", f"{seen['thread']:.0%}", f"{1000 * seen['p50']:.1f}",
                     f"{1000 * seen['p99']:.1f}", f"{seen['answered']:.1%}"])
        parts = {"the primaries' processors": seen["primaries"][1], "the nodes' processors": seen["nodes"][1],
                 "the busiest store's thread": seen["thread"]}
        worst = max(parts, key=parts.get)
        if first is None and parts[worst] > 0.95:
            first = f"at {load} times the load {worst}"
    table(["load", "writes/s", "nodes", "primaries", "a thread", "p50 ms", "p99 ms", "answered"], rows)
    print(f"  what breaks first: {first or 'nothing up to 8 times the load'}")
