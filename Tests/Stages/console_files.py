"""The files of the console as they are written: short, commented, without what its policy forbids, all of them used.

Reads the repository, and needs neither server nor browser.
"""

import gzip
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Scripts"))
import console_pack  # noqa: E402 - it is not beside this file

FOLDER = console_pack.FOLDER
# As they are in the program, and all as they travel, each by itself.
LINES, FUNCTION_LINES, PACKED_BYTES, WIRE_BYTES = 400, 70, 150_000, 170_000
# What a browser would refuse under the console's policy, or what must not be there at all.
FORBIDDEN = {
    "innerHTML": r"innerHTML", "outerHTML": r"outerHTML", "insertAdjacentHTML": r"insertAdjacentHTML",
    "document.write": r"document\s*\.\s*write", "eval": r"\beval\s*\(", "new Function": r"new\s+Function\b",
    "a style attribute": r"setAttribute\(\s*['\"]style", "a listener's attribute": r"setAttribute\(\s*['\"]on|<[^>]+\son\w+\s*=",
    "a style attribute in markup": r"<[^>]+\sstyle\s*=", "debugger": r"\bdebugger\b", "console.log": r"console\.log\b",
    "an address outside": r"https?://(?!www\.w3\.org/)[a-z0-9]",
}
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")


def masked(source):
    """The source with the insides of texts, patterns and comments blank: braces that are left are the program's."""
    return "".join(part if is_program else re.sub(r"[^\n]", " ", part) for is_program, part in console_pack.parts_of(source))


def long_functions(source):
    """(line, lines) of functions that are too long. What begins with `=> {`, `) {` or `function` is one."""
    found, stack = [], []
    text = masked(source)
    line = 1
    for part in re.finditer(r"[{}\n]", text):
        if part.group() == "\n":
            line += 1
        elif part.group() == "{":
            head = text[max(0, part.start() - 200):part.start()].rstrip()
            is_function = head.endswith("=>") or (
                head.endswith(")") and not re.search(r"\b(?:if|for|while|switch|catch|with)\s*(?:await\s*)?\([^;{}]*\)$|\bfor\s*\([^{}]*\)$", head))
            stack.append((line, is_function))
        elif stack:
            first, is_function = stack.pop()
            if is_function and line + 1 - first > FUNCTION_LINES:
                found.append((first, line + 1 - first))
    return found


def exports_without_comment(source):
    lines = source.split("\n")
    return [number + 1 for number, line in enumerate(lines)
            if re.match(r"export (?!\{|\*)", line) and not (number and re.match(r"\s*//|.*\*/\s*$", lines[number - 1]))]


def the_files_keep_their_rules(_, checks):
    files = console_pack.written()
    scripts = {name: text for name, text in files.items() if name.endswith(".js")}
    checks.check("there are scripts", len(scripts) > 10, list(files))
    for name, text in files.items():
        lines = text.split("\n")
        if name.endswith((".js", ".css", ".html")):
            limit = LINES if name.endswith(".js") else 2 * LINES
            checks.check(f"{name} is at most {limit} lines long", len(lines) <= limit, f"{len(lines)} lines", quiet=True)
        marks = [number + 1 for number, line in enumerate(lines) if UNFINISHED.search(line)]
        checks.check(f"{name} is finished", not marks, marks, quiet=True)
    for name, text in scripts.items():
        long = long_functions(text)
        checks.check(f"{name} has no function over {FUNCTION_LINES} lines", not long, f"(line, lines): {long}", quiet=True)
        bare = exports_without_comment(text)
        checks.check(f"{name} has a comment before each export", not bare, f"lines {bare}", quiet=True)
    for name, text in files.items():
        if name.endswith((".js", ".html")):
            code = re.sub(r"^\s*(?://|\*).*$", "", text, flags=re.M)
            for what, pattern in FORBIDDEN.items():
                found = re.search(pattern, code)
                checks.check(f"{name} is without {what}", not found, found and found.group(), quiet=True)
    # What is seen first is reached first by Tab, and read first.
    moved = {name: found.group() for name, text in files.items() if (found := re.search(
        r"(?<![\w-])order\s*:\s*-?\d|-reverse\b" if name.endswith(".css") else r"tabindex[:=]\s*['\"]?[1-9]|tabIndex = [1-9]", text))}
    checks.check("nothing is seen in another order than it is written in", not moved, moved)
    checks.check("lengths, comments and words were looked at", True)


def every_file_is_used(_, checks):
    files = console_pack.written()
    wanted, used = ["index.html"], set()
    while wanted:
        name = wanted.pop()
        if name in used:
            continue
        used.add(name)
        found = set(re.findall(r"/console/~build/([\w.-]+)", files[name]))
        if name.endswith(".js"):
            found |= set(re.findall(r"""(?:from|import)\s*\(?\s*['"]\./([\w.-]+)['"]""", files[name]))
            found |= set(re.findall(r"sheet\('\./([\w.-]+)'\)", files[name]))
            if re.search(r"import\(`\./\$\{", files[name]):
                # Modules of pages are named in a table.
                found |= {f"{word}.js" for word in re.findall(r"'([a-z-]+)'", files[name]) if f"{word}.js" in files}
        missing = sorted(found - set(files))
        checks.check(f"what {name} refers to is there", not missing, missing, quiet=True)
        wanted += found & set(files)
    checks.check("no file is without use", used == set(files), sorted(set(files) - used))
    for name, text in files.items():
        if not name.endswith(".js"):
            continue
        for names, target in re.findall(r"import\s*\{([^}]*)\}\s*from\s*['\"]\./([\w.-]+)['\"]", text):
            for one in filter(None, (part.split(" as ")[0].strip() for part in names.split(","))):
                given = exported(files.get(target, ""))
                checks.check(f"{target} exports {one}, which {name} imports", one in given, quiet=True)


def the_program_carries_them_packed(_, checks):
    with open(console_pack.ARCHIVE, "rb") as file:
        packed = file.read()
    files = console_pack.written()
    short = {name: console_pack.short(name, text) for name, text in files.items()}
    checks.check("the archive is of these files: else run Scripts/console_pack.py", console_pack.archived(packed) == short)
    checks.check("every line is where it was", all(text.count("\n") == short[name].count("\n") for name, text in files.items()))
    checks.check(f"it has {len(packed):,} bytes, of {PACKED_BYTES:,}", len(packed) <= PACKED_BYTES)
    wire = sum(len(gzip.compress(text.encode())) for text in short.values())
    checks.check(f"each by itself they are {wire:,} bytes, of {WIRE_BYTES:,}", wire <= WIRE_BYTES)


def exported(source):
    names = set(re.findall(r"^export (?:async )?(?:function\*?|class|const|let) (\w+)", source, re.M))
    for group in re.findall(r"^export \{([^}]*)\}", source, re.M):
        names |= {part.split(" as ")[-1].strip() for part in group.split(",")}
    return names


ALONE = True
CHECKS = [the_files_keep_their_rules, every_file_is_used, the_program_carries_them_packed]
