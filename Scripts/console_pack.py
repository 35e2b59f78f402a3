#!/usr/bin/env python3
"""Packs the console's files into the archive that the program carries: Scripts/console_pack.py [--check]

Reads Sources/CConsoleAssets/assets, which is what people write, and writes Sources/CConsoleAssets/console.tar.gz. In it comments
and indentation are left out, which browsers would load for nothing; every line stays on its line, so that what a browser says
about one is true of the file in the repository. "tar -tvzf" lists it. The same files make the same archive.

--check writes nothing, and fails if the archive is of other files.
"""

import gzip
import io
import os
import re
import sys
import tarfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "Sources", "CConsoleAssets", "assets")
ARCHIVE = os.path.join(HERE, "..", "Sources", "CConsoleAssets", "console.tar.gz")
BYTES_MAX = 150_000

# What is no program in a script: comments, texts, patterns.
PARTS = re.compile(
    r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|(?P<template>`)|"
    r"(?P<pattern>/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*)", re.S)
# Behind a value a slash divides; behind these words it does not.
VALUE, WORD = re.compile(r"[\w)\]}'\"`]$"), re.compile(r"\b(?:return|typeof|case|in|of|=>)$")


def template_end(source, at):
    """Behind the template that begins here, with what is in its values."""
    at += 1
    while at < len(source):
        if source[at] == "\\":
            at += 2
        elif source[at] == "`":
            return at + 1
        elif source.startswith("${", at):
            at, depth = at + 2, 1
            while depth:
                if source[at] == "`":
                    at = template_end(source, at)
                    continue
                depth += {"{": 1, "}": -1}.get(source[at], 0)
                at += 1
        else:
            at += 1
    return at


def parts_of(source):
    """(is program, text) of a script, in order: program, or one comment, text, template or pattern."""
    at = begin = 0
    while found := PARTS.search(source, at):
        before = source[max(0, found.start() - 40):found.start()].rstrip()
        if found["pattern"] and VALUE.search(before) and not WORD.search(before):
            at = found.start() + 1
            continue
        at = template_end(source, found.start()) if found["template"] else found.end()
        yield True, source[begin:found.start()]
        yield False, source[found.start():at]
        begin = at
    yield True, source[begin:]


def lines_alone(comment):
    return re.sub(r"[^\n]", "", comment) or " "


def short(name, source):
    """A file as browsers load it, with as many lines."""
    kept = "\0"  # A line's end inside a text.
    if name.endswith(".js"):
        source = "".join(
            part if is_program else lines_alone(part) if part.startswith(("//", "/*")) else part.replace("\n", kept)
            for is_program, part in parts_of(source))
    elif name.endswith(".css"):
        source = re.sub(r"/\*.*?\*/", lambda comment: lines_alone(comment.group()), source, flags=re.S)
    else:
        return source
    return "\n".join(line.strip(" ") for line in source.split("\n")).replace(kept, "\n")


def written():
    """{name: text} of the folder."""
    files = {}
    for name in sorted(os.listdir(FOLDER)):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            files[name] = file.read()
    return files


def archived(data):
    """{name: text} of an archive."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        return {member.name: archive.extractfile(member).read().decode() for member in archive}


def archive_of(files):
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in files.items():
            member, data = tarfile.TarInfo(name), text.encode()
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    packing = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS, 9)
    return packing.compress(whole.getvalue()) + packing.flush()


def main():
    wanted = {name: short(name, text) for name, text in written().items()}
    try:
        with open(ARCHIVE, "rb") as file:
            packed = file.read()
        is_new = archived(packed) == wanted
    except (OSError, EOFError, tarfile.TarError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError):
        packed, is_new = b"", False
    # Another version of zlib packs the same files into other bytes: those that are there stay.
    if not is_new and "--check" in sys.argv[1:]:
        sys.exit("Sources/CConsoleAssets/console.tar.gz is not of the files in Sources/CConsoleAssets/assets. "
                 "Run Scripts/console_pack.py, and add the archive to the change.")
    if not is_new:
        packed = archive_of(wanted)
    if len(packed) > BYTES_MAX:
        sys.exit(f"The console's files make {len(packed):,} bytes, and {BYTES_MAX:,} are allowed. Make them smaller.")
    if not is_new:
        with open(ARCHIVE, "wb") as file:
            file.write(packed)
    print(f"{len(wanted)} files, {len(packed):,} bytes of {BYTES_MAX:,}")


if __name__ == "__main__":
    main()
