"""The pictures in the documentation: each has the size of its window, light and dark, and the pages that they show still say in that
window what is to be read in them. Pixels are not compared: who changes a page looks at them."""

import os
import struct

from pictures import SHOTS, looks, path_of, scenario

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Documentation", "Pictures")
MOST_BYTES = 200_000


def size_of(path):
    """The width and height of a PNG."""
    with open(path, "rb") as file:
        head = file.read(24)
    return struct.unpack(">II", head[16:24]) if head[:8] == b"\x89PNG\r\n\x1a\n" else None


def pages_say_what_their_pictures_do(site, checks):
    event = scenario(site)
    tab = site.open("overview")
    for shot in SHOTS:
        missing = looks(site, tab, shot, event, "light")
        checks.check(f"the page of the picture {shot.name} says what is to be read in it", not missing, (missing, tab.text[:900]))


def pictures_have_their_sizes(_, checks):
    expected = {os.path.basename(path_of(shot, FOLDER, scheme)): shot.size for shot in SHOTS for scheme in ("light", "dark")}
    there = {name for name in os.listdir(FOLDER) if name.startswith("console-")}
    checks.check("there is a picture of each, light and dark, and no other", there == set(expected), sorted(there ^ set(expected)))
    for name in sorted(there & set(expected)):
        path = os.path.join(FOLDER, name)
        checks.check(f"{name} is {expected[name][0]} × {expected[name][1]}", size_of(path) == expected[name] and os.path.getsize(path) <= MOST_BYTES,
                     (size_of(path), os.path.getsize(path)), quiet=True)
    checks.check(f"{len(there)} pictures were looked at", True)


CHECKS = [pages_say_what_their_pictures_do, pictures_have_their_sizes]
