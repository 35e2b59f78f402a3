"""Makes man pages of what the program says of its commands (`doubloon --experimental-dump-help`, read from standard input).

One page for the program, doubloon.1, and one for each of its commands, doubloon-NAME.1, with the commands below it.
"""

import argparse
import json
import os
import re
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--version", required=True)
parser.add_argument("--time", type=int, required=True, help="seconds since 1970: the date in the footer")
parser.add_argument("folder")


def escaped(text):
    """Text as roff prints it: no backslash, hyphen or quote of it is an instruction."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha")
    text = text.replace("~", "\\(ti")
    return re.sub(r"^(?=\.)", r"\\&", text, flags=re.M)


def shown(items):
    return [item for item in items or [] if item.get("shouldDisplay", True)]


def own(command):
    """A command's arguments without those that every command has."""
    return [a for a in shown(command.get("arguments")) if a.get("valueName") not in ("help", "version")]


def spelling(argument):
    """How an argument is written on the command line, in roff."""
    # Long lists of choices may be broken behind a bar.
    value = "\\fI" + escaped(argument.get("valueName", "value")).replace("|", "|\\:") + "\\fR"
    if argument["kind"] == "positional":
        return value
    names = []
    for name in argument["names"]:
        dashes = "-" if name["kind"] == "short" else "--"
        names.append(f"\\fB{escaped(dashes + name['name'])}\\fR" + (f" {value}" if argument["kind"] == "option" else ""))
    return ", ".join(names)


def synopsis(words, command):
    """The line that says how a command is called."""
    parts = [f".B {escaped(' '.join(words))}"]
    arguments = own(command)
    if any(argument["kind"] != "positional" for argument in arguments):
        parts.append("[\\fIoption\\fR ...\\&]")
    for argument in arguments:
        if argument["kind"] == "positional":
            text = spelling(argument) + (" ...\\&" if argument.get("isRepeating") else "")
            parts.append(f"[{text}]" if argument.get("isOptional") else text)
    if shown(command.get("subcommands")):
        parts.append("\\fIcommand\\fR ...\\&")
    return parts


def prose(text):
    """Paragraphs; indented lines stay as they are written."""
    lines, plain = [], False
    for line in text.split("\n"):
        indented = line.startswith("  ") and line.strip()
        if indented and not plain:
            lines += [".PP", ".RS 4", ".nf"]
        elif plain and not indented:
            lines += [".fi", ".RE"]
        plain = bool(indented)
        if not line.strip():
            lines.append(".PP")
        else:
            lines.append(escaped(line.strip() if indented else line))
    if plain:
        lines += [".fi", ".RE"]
    while lines and lines[-1] == ".PP":
        lines.pop()
    # A paragraph that follows the heading, or another paragraph's mark, needs no mark of its own.
    return [line for index, line in enumerate(lines) if line != ".PP" or index and lines[index - 1] != ".PP"]


def options(arguments):
    lines = []
    for argument in arguments:
        said = " ".join(part for part in (argument.get("abstract"), argument.get("discussion")) if part)
        default = argument.get("defaultValue")
        if default and "default:" not in said:
            said += f" (default: {default})"
        if argument.get("allValues"):
            said += f" One of {', '.join(argument['allValues'])}."
        lines += [".TP", spelling(argument), escaped(said.strip().replace("\n", " ")) or "\\&"]
    return lines


def below(words, command):
    """The commands below one, each with its help."""
    lines = []
    for sub in shown(command.get("subcommands")):
        name = words + [sub["commandName"]]
        if sub["commandName"] == "help":
            continue
        lines += [".SS " + escaped(" ".join(name)), escaped(sub.get("abstract", ""))]
        lines += [".PP", *synopsis(name, sub)]
        if sub.get("discussion"):
            lines += [".PP", *prose(sub["discussion"])]
        lines += options(own(sub))
        lines += below(name, sub)
    return lines


def page(words, command, arguments, siblings):
    title = "-".join(words)
    date = time.strftime("%Y-%m-%d", time.gmtime(arguments.time))
    lines = [f'.TH "{escaped(title.upper())}" 1 "{date}" "doubloon {escaped(arguments.version)}" "Doubloon"', ".nh", ".ad l"]
    lines += [".SH NAME", f"{escaped(title)} \\- {escaped(command.get('abstract', '').rstrip('.'))}"]
    lines += [".SH SYNOPSIS", *synopsis(words, command)]
    if command.get("discussion"):
        lines += [".SH DESCRIPTION", *prose(command["discussion"])]
    listed = own(command) if len(words) > 1 else shown(command.get("arguments"))
    if listed:
        lines += [".SH OPTIONS", *options(listed)]
    if len(words) > 1:
        inner = below(words, command)
        if inner:
            lines += [".SH COMMANDS", *inner]
    else:
        lines += [".SH COMMANDS"]
        for sub in siblings:
            lines += [".TP", f".BR {escaped(title)}\\-{escaped(sub['commandName'])} (1)", escaped(sub.get("abstract", ""))]
    if len(words) > 1:
        lines += [".SH SEE ALSO", ".BR doubloon (1)"]
    return "\n".join(lines) + "\n"


def main():
    arguments = parser.parse_args()
    root = json.load(sys.stdin)["command"]
    commands = [sub for sub in shown(root["subcommands"]) if sub["commandName"] != "help"]
    pages = {"doubloon": page(["doubloon"], root, arguments, commands)}
    for sub in commands:
        words = ["doubloon", sub["commandName"]]
        pages["-".join(words)] = page(words, sub, arguments, [])
    for name, text in pages.items():
        with open(os.path.join(arguments.folder, f"{name}.1"), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
