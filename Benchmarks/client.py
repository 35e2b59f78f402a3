#!/usr/bin/env python3
"""What the library for games costs: lines, build, text, and the figures of the benchmark `client` against a server.

Each figure stands beside its mark. Nothing fails here: figures are for comparing, on a quiet machine.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGETS = ("SyncModel", "ClientRuntime", "ClientLink", "ClientNIO", "ClientApple", "Doubloon")
ADDRESS = re.compile(rb"https?://127\.0\.0\.1:(\d+)")
EMPTY = '''// swift-tools-version:6.2
import PackageDescription
let package = Package(name: "Empty", targets: [.executableTarget(name: "Empty")])
'''


def lines():
    counts, code = {}, 0
    for target in TARGETS:
        for folder, _, names in os.walk(os.path.join(ROOT, "Sources", target)):
            for name in names:
                if name.endswith(".swift"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        read = file.read().splitlines()
                    counts[target] = counts.get(target, 0) + len(read)
                    code += sum(1 for line in read if line.strip() and not line.strip().startswith("//"))
    print(f"sources      {sum(counts.values())} lines ({', '.join(f'{name} {count}' for name, count in counts.items())}), "
          f"{code} of them neither empty nor a comment; mark 10,000")


def build(folder):
    """A clean debug build of the library, with what it stands on fetched before."""
    scratch = os.path.join(folder, "build")
    swift("package", "resolve", "--scratch-path", scratch)
    begin = time.monotonic()
    swift("build", "--scratch-path", scratch, "--product", "Doubloon")
    print(f"clean build  {time.monotonic() - begin:.0f} s as debug, {os.cpu_count()} cores; mark 180")


def swift(*words):
    done = subprocess.run(["swift", *words], cwd=ROOT, text=True, capture_output=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def text(program):
    """The bytes of code in a program."""
    said = subprocess.run(["size", "-A", program], text=True, capture_output=True, check=True).stdout
    return int(re.search(r"^\.text\s+(\d+)", said, flags=re.M).group(1))


def size(folder):
    """The game for terminals, without what an empty program has."""
    empty = os.path.join(folder, "Empty")
    os.makedirs(os.path.join(empty, "Sources", "Empty"))
    for name, content in (("Package.swift", EMPTY), ("Sources/Empty/main.swift", "print(1)\n")):
        with open(os.path.join(empty, name), "w", encoding="utf-8") as file:
            file.write(content)
    bytes_of = []
    for package, product in ((os.path.join(ROOT, "Examples", "GameClient"), "GameClient"), (empty, "Empty")):
        scratch = os.path.join(folder, product)
        swift("build", "-c", "release", "--package-path", package, "--scratch-path", scratch)
        bytes_of.append(text(os.path.join(scratch, "release", product)))
    print(f"text         {(bytes_of[0] - bytes_of[1]) / 1e6:.2f} MB with the network code; mark 8")


def figures(program, client, small):
    """The benchmark's own lines, against a server of this run."""
    server = subprocess.Popen([program, "dev", "--in-memory", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        for line in server.stdout:
            if found := ADDRESS.search(line):
                break
        else:
            sys.exit("The server did not start.")
        address = f"http://127.0.0.1:{int(found.group(1))}"
        subprocess.run([client, "--server", address, *(["--small"] if small else [])], check=True)
    finally:
        server.terminate()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", help="a doubloon; with --client: the figures against a server")
    parser.add_argument("--client", help="the benchmark client, as it was built")
    parser.add_argument("--small", action="store_true", help="a moment of each")
    parser.add_argument("--build", action="store_true", help="a clean debug build of the library; minutes")
    parser.add_argument("--text", action="store_true", help="release builds of a game and of nothing; many minutes")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="doubloon-client-")
    try:
        lines()
        if options.build:
            build(folder)
        if options.text:
            size(folder)
        if options.program and options.client:
            figures(os.path.abspath(options.program), os.path.abspath(options.client), options.small)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
