#!/usr/bin/env python3
"""What a referral lifecycle costs the server in instructions of its own code, and in which part of it, by valgrind's callgrind.

    Scripts/test release benchmarks
    Benchmarks/instructions.py                       # 16 clients, half a minute
    Benchmarks/instructions.py --clients 64 --seconds 30

Instructions hold still where times do not: other work on the machine changes nothing but the size of batches. valgrind lets one
thread run at a time and is some fifty times slower, so batches are smaller than a server's, and what is paid once for a batch
weighs more; and functions that a server runs in place run on threads here, for they take fifty times as long. The kernel's part
is not in it. Parts are counted with everything that they call; they do not overlap.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Stages"))
from serving import free_port  # noqa: E402

# What is told, and the function that begins it. What a part holds of another one is taken out of it.
PARTS = [
    ("requests: read, understood, handed over", "RequestReader.channelRead(context:data:)", ()),
    ("writer: judged (rules, diff, events, ledger)", "WriterLoop.judge(_:)", ()),
    ("writer: functions in place", "InlineTurn.run(after:commit:)", ()),
    ("writer: rows to SQLite", "SQLiteWriteSession.write()", ("SQLiteWriteSession.writeHistory()", "RowDigests.write()")),
    ("writer: the past", "SQLiteWriteSession.writeHistory()", ()),
    ("writer: digests of tables", "RowDigests.write()", ()),
    ("runners: functions on threads, dispatching", "closure #1 in RunnerThread.init()", ()),
    ("flusher: durable, told", "BatchFlusher.finish(_:session:)", ()),
]


class Server:
    """The program under callgrind, which counts while it is told to."""

    def __init__(self, program, folder):
        self.counts = f"{folder}/counts"
        self.port = free_port()
        # callgrind trips over compressed debug information, and needs the names of functions only.
        lean = f"{folder}/doubloon"
        subprocess.run(["objcopy", "--strip-debug", program, lean], check=True)
        self.log = open(f"{folder}/log.txt", "w")
        self.process = subprocess.Popen(
            ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--fair-sched=yes", f"--callgrind-out-file={self.counts}",
             lean, "dev", "--port", str(self.port), "--data", f"{folder}/data"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def counting(self, is_on):
        subprocess.run(["callgrind_control", "-i", "on" if is_on else "off", str(self.process.pid)], check=True,
                       stdout=subprocess.DEVNULL)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


def loaded(options, port, seconds, *more):
    """Lifecycles that the driver played in so many seconds."""
    words = [options.driver, "rest", "--port", str(port), "--clients", str(options.clients), "--seconds", str(seconds),
             "--warm-up", "0", *more]
    said = subprocess.run(words, capture_output=True, text=True)
    if said.returncode:
        raise SystemExit(f"The load ended with: {said.stdout}{said.stderr}")
    return json.loads(said.stdout)["lifecycles"]


def await_answer(server, options):
    """The first load succeeds once the server is there; it warms it up, too."""
    end = time.monotonic() + 120
    while True:
        try:
            return loaded(options, server.port, options.seconds / 3)
        except SystemExit:
            if time.monotonic() > end or server.process.poll() is not None:
                raise
            time.sleep(1)


def costs(counts):
    """Instructions in all, and by function with what it calls."""
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", counts], check=True, capture_output=True,
                          text=True).stdout
    names = subprocess.run(["swift", "demangle", "--simplified"], input=text, check=True, capture_output=True, text=True).stdout
    total, found = 0, {}
    for line in names.splitlines():
        match = re.match(r"\s*([\d,]+) \([ \d.]+%\)  (?:.*?:)?(.+?)(?: \[[^\]]*\])?$", line)
        if not match:
            continue
        count, name = int(match[1].replace(",", "")), match[2].strip()
        if name == "PROGRAM TOTALS":
            total = count
        found[name] = max(count, found.get(name, 0))
    return total, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=".build/release/doubloon")
    parser.add_argument("--driver", default=".build/release/lifecycle")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=15)
    options = parser.parse_args()
    for tool in ("valgrind", "objcopy", "swift"):
        shutil.which(tool) or sys.exit(f"There is no {tool} here. Debian has valgrind and binutils; swift comes with its toolchain.")
    for program in (options.program, options.driver):
        os.path.exists(program) or sys.exit(f"There is no {program}: Scripts/test release benchmarks makes both.")
    with tempfile.TemporaryDirectory(prefix="instructions-") as folder:
        server = Server(os.path.abspath(options.program), folder)
        try:
            await_answer(server, options)
            server.counting(True)
            # Players whom nobody has rewarded yet.
            lifecycles = loaded(options, server.port, options.seconds, "--random")
            server.counting(False)
        finally:
            server.stop()
        total, found = costs(server.counts)
    print(f"{options.clients} clients, {lifecycles:,} lifecycles, {total / lifecycles / 1000:,.0f} thousand instructions each")
    rest = total
    for label, function, inner in PARTS:
        count = found.get(function, 0) - sum(found.get(name, 0) for name in inner)
        rest -= count
        print(f"  {label:46} {count / lifecycles / 1000:7,.0f}  {count / total:6.1%}")
    print(f"  {'answers, event loops, everything else':46} {rest / lifecycles / 1000:7,.0f}  {rest / total:6.1%}")


if __name__ == "__main__":
    main()
