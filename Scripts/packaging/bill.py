"""Writes a software bill of materials (SPDX 2.3, JSON) of a built program, and the licences of everything in it.

What is in the program is read where it is pinned (Package.resolved) and from the sources that were built (.build/checkouts); what
it is linked with at its start, from the program. A licence that is not recognised stops it: a release says what it holds.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--program", required=True)
parser.add_argument("--version", required=True)
parser.add_argument("--commit", required=True)
parser.add_argument("--time", type=int, required=True, help="seconds since 1970: when it was made")
parser.add_argument("--licences", required=True, help="where the texts of the licences go")
parser.add_argument("output")

CHECKOUTS = ".build/checkouts"

# What is pinned for the documentation's sake (Scripts/test docs) and is in no program.
TOOLS = {"swift-docc-plugin", "swift-docc-symbolkit"}

# What packages carry of others' code: where it lies, what it is, its licence, and the file whose beginning says so.
CARRIED = [
    ("swift-crypto", "Sources/CCryptoBoringSSL", "BoringSSL", "Apache-2.0 AND ISC AND MIT", "crypto/bio/bio.cc"),
    ("swift-crypto", "Sources/CXKCP", "XKCP", "CC0-1.0", "FIPS202-opt64/KeccakSponge.c"),
    ("swift-nio", "Sources/CNIOLLHTTP", "llhttp", "MIT", "LICENSE"),
    ("swift-nio", "Sources/CNIOSHA1", "FreeBSD sha1", "BSD-3-Clause", "c_nio_sha1.c"),
    ("swift-nio-ssl", "Sources/CNIOBoringSSL", "BoringSSL", "Apache-2.0 AND ISC AND MIT", "crypto/bio/bio.cc"),
]

# What programs are linked with at their start, by the beginning of the library's name.
SYSTEM = {
    "libsqlite3.": ("SQLite", "blessing"),
    "libstdc++.": ("GNU C++ library", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    "libgcc_s.": ("GCC runtime library", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    "libc.": ("GNU C library", "LGPL-2.1-or-later"),
    "libm.": ("GNU C library", "LGPL-2.1-or-later"),
    "ld-linux": ("GNU C library", "LGPL-2.1-or-later"),
}


def licence(text, of):
    """The SPDX identifier of a licence's text."""
    head = " ".join(text.split())
    if "Apache License Version 2.0" in head:
        return "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in head else "Apache-2.0"
    if "Permission is hereby granted, free of charge" in head:
        return "MIT"
    sys.exit(f"The licence of {of} is not one that Scripts/packaging/bill.py knows: read it, and teach the script.")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def package(name, version, said, location="NOASSERTION", **more):
    """A package as SPDX has it."""
    identifier = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{name}-{version}")
    return {
        "SPDXID": identifier, "name": name, "versionInfo": version, "licenseConcluded": said, "licenseDeclared": said,
        "downloadLocation": location, "filesAnalyzed": False, "copyrightText": "NOASSERTION", **more,
    }


def pinned():
    """The packages of Package.resolved with their licences' texts, as (package, [(title, text)])."""
    for pin in sorted(json.loads(read("Package.resolved"))["pins"], key=lambda pin: pin["identity"]):
        name, state = pin["identity"], pin["state"]
        if name in TOOLS:
            continue
        folder = os.path.join(CHECKOUTS, name)
        if not os.path.isdir(folder):
            sys.exit(f"There is no {folder}: build first (swift build), so that its licence can be read.")
        text = read(os.path.join(folder, "LICENSE.txt"))
        texts = [(name, text)]
        notice = os.path.join(folder, "NOTICE.txt")
        if os.path.exists(notice):
            texts.append((f"{name}, its notices", read(notice)))
        version = state.get("version", state["revision"])
        reference = {
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": f"pkg:swift/{pin['location'].removeprefix('https://').removesuffix('.git')}@{version}",
        }
        location = f"git+{pin['location']}@{state['revision']}"
        yield package(name, version, licence(text, name), location, externalRefs=[reference]), texts


def carried():
    for owner, place, name, said, speaker in CARRIED:
        folder = os.path.join(CHECKOUTS, owner, place)
        if not os.path.exists(os.path.join(folder, speaker)):
            sys.exit(f"{owner} no longer has {place}/{speaker}: correct CARRIED in Scripts/packaging/bill.py.")
        hashed = os.path.join(folder, "hash.txt")
        found = re.search(r"revision ([0-9a-f]{40})", read(hashed)) if os.path.exists(hashed) else None
        version = found.group(1) if found else f"as in {owner}"
        text = read(os.path.join(folder, speaker))
        if not speaker.startswith("LICENSE"):
            # The comments before the code, among which the copyright stands.
            text = re.split(r"^(?:#include|#ifndef|#define|typedef|static)", text, maxsplit=1, flags=re.M)[0]
        yield package(f"{name} (in {owner})", version, said), [(f"{name}, in {owner} ({said})", text)]


def toolchain():
    """Swift's runtime, which is linked into the program."""
    swift = shutil.which("swift") or sys.exit("The licence of Swift is read beside swift, which is not in the PATH.")
    said = subprocess.run([swift, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"Swift version (\S+)", said).group(1)
    text = read(os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(swift))), "share/swift/LICENSE.txt"))
    name = "Swift standard library and runtime"
    return package(name, version, licence(text, name), "https://www.swift.org/"), [(name, text)]


def linked(program):
    """The system's libraries that the program asks for at its start."""
    said = subprocess.run(["readelf", "--dynamic", "--wide", program], capture_output=True, text=True, check=True).stdout
    found = {}
    for library in re.findall(r"\(NEEDED\).*\[(.+)\]", said):
        known = next((value for start, value in SYSTEM.items() if library.startswith(start)), None)
        if known is None:
            # The Swift runtime, where it is not linked into the program.
            if re.match(r"lib(swift|Foundation|dispatch|BlocksRuntime|_Foundation)", library):
                continue
            sys.exit(f"The program needs {library}, of which Scripts/packaging/bill.py knows no licence.")
        found.setdefault(known, []).append(library)
    for (name, said), libraries in sorted(found.items()):
        yield package(name, "the machine's", said, comment="Linked at the start: " + ", ".join(sorted(libraries)) + ".")


def write_licences(path, texts):
    titles = {}
    for title, text in texts:
        titles.setdefault(text.strip(), []).append(title)
    with open(path, "w", encoding="utf-8") as file:
        for text, names in titles.items():
            heading = "\n".join(f"{name}" for name in names)
            file.write(f"{'=' * 78}\n{heading}\n{'=' * 78}\n\n{text}\n\n")


def main():
    given = parser.parse_args()
    own = package("doubloon", given.version, "Apache-2.0", "NOASSERTION", comment=f"Built from commit {given.commit}.")
    inside, texts = [], []
    for part, said in [*pinned(), *carried(), toolchain()]:
        inside.append(part)
        texts += said
    outside = list(linked(given.program))
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]}]
    for part in inside:
        relations.append({"spdxElementId": own["SPDXID"], "relationshipType": "CONTAINS", "relatedSpdxElement": part["SPDXID"]})
    for part in outside:
        relations.append(
            {"spdxElementId": own["SPDXID"], "relationshipType": "DYNAMIC_LINK", "relatedSpdxElement": part["SPDXID"]})
    digest = hashlib.sha256(json.dumps([own, inside, outside], sort_keys=True).encode()).hexdigest()
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"doubloon-{given.version}", "documentNamespace": f"https://doubloon.invalid/spdx/{given.commit}/{digest[:16]}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(given.time)),
            "creators": ["Tool: Scripts/packaging/bill.py"],
        },
        "packages": [own, *inside, *outside], "relationships": relations,
    }
    with open(given.output, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    write_licences(given.licences, texts)


if __name__ == "__main__":
    main()
