"""What can be copied from every page: commands and requests that do what they say when they are pasted into a shell."""

import json
import os
import re
import shlex
import subprocess
import urllib.parse

from console import every_page

# Requests that change nothing, whatever their method.
LOOKS = re.compile(r"/(preview|explain|check|dry-run)\b")
# Commands that read, by how they begin.
READS = re.compile(
    r"^doubloon (status|why|namespaces|backups|verify|find|series|audit list|ledger (statement|entries|accounts|holds list|verify)|referrals top|"
    r"triggers (list|show)|replay (list|show)|accounts (list|show|sessions|codes)|functions (list|show)|rules (get|history|explain)|"
    r"data (get|children|log|diff)|links (list|show|settings)|invites list|messages (list|show)|service-account list|config show|log verification)\b")
# What these tell is another thing each time they are asked.
FLEETING = re.compile(r"^doubloon (status|series|functions|audit|namespaces|verify|backups)")


def environment(site):
    folder = os.path.join(site.folder, "bin")
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "doubloon")
    if not os.path.exists(program):
        os.symlink(site.program, program)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "DOUBLOON_KEY": site.key, "DOUBLOON_SERVER": f"http://127.0.0.1:{site.port}"}


def pasted(site, line):
    """What a line does in a shell: its exit code, and what it prints."""
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=environment(site), timeout=120)
    return done.returncode, done.stdout, done.stderr


def read(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


# What is copied is kept.
KEEPS = ("window.copied = []; Object.defineProperty(navigator.clipboard, 'writeText', "
         "{configurable: true, value: async (text) => { window.copied.push(text) }})")


def menus(tab):
    """The texts that the page's copy menus have, by menu and name."""
    tab.value(KEEPS)
    found = {}
    openers = "[...document.querySelectorAll('main .menu > button')].filter((e) => e.checkVisibility() && /Copy/.test(e.innerText))"
    for at in range(tab.value(f"{openers}.length") or 0):
        tab.value(f"{openers}[{at}].click()")
        names = tab.until(f"(() => {{ const n = [...{openers}[{at}].parentElement.querySelectorAll('[role=menuitem]')].map((e) => e.innerText); "
                          "return n.length > 0 && n })()") or []
        tab.key("Escape")
        for name in names:
            before = tab.value("window.copied.length")
            tab.value(f"{openers}[{at}].click()")
            tab.value(f"[...{openers}[{at}].parentElement.querySelectorAll('[role=menuitem]')].find((e) => e.innerText === {json.dumps(name)}).click()")
            if tab.until(f"window.copied.length > {before}"):
                found[(at, name)] = tab.value("window.copied.at(-1)")
    return found


def request_is_answered(site, checks, page, line):
    words = shlex.split(line)
    method = words[words.index("-X") + 1] if "-X" in words else "GET"
    address = next(word for word in words if word.startswith("http"))
    checks.check(f"a request of {page} names this server", address.startswith(site.base), line, quiet=True)
    if method != "GET" and not LOOKS.search(address):
        return None
    code, out, err = pasted(site, line)
    answer = read(out)
    checks.check(f"a request of {page} is answered in a shell", code == 0 and answer is not None and not (isinstance(answer, dict) and "error" in answer),
                 (line, code, out[:300], err[:200]), quiet=True)
    return answer


def every_page_can_be_copied(site, checks):
    counts = {"pages": 0, "requests": 0, "commands": 0, "alike": 0}
    tab = site.tab()
    for page in every_page(site):
        site.go(tab, page)
        found = menus(tab)
        lines = [(name, text) for name, text in found.items() if re.match(r"(curl|doubloon) ", text)]
        counts["pages"] += bool(lines)
        checks.check(f"what is copied from {page} holds no key", not any(site.key in shlex.split(line) for _, line in lines), lines, quiet=True)
        answers = {}
        for (at, name), line in lines:
            if line.startswith("curl "):
                answers[at] = request_is_answered(site, checks, page, line)
                counts["requests"] += answers[at] is not None
        for (at, name), line in lines:
            if not READS.match(line) or "\n" in line or re.search(r"\b(FILE|REASON|[\w-]+\.json)\b", line):
                continue
            code, out, err = pasted(site, line)
            # The verdict of a trial, or of an audit, may be a failure: it is told all the same. What cannot be understood ends with 2.
            is_run = checks.check(f"a command of {page} runs in a shell", code == 0 or code == 1 and out, (line, code, out[:300], err[:300]), quiet=True)
            counts["commands"] += is_run
            answer = answers.get(at)
            if not isinstance(answer, dict) or not {"Command", "curl"} <= {name for menu, name in found if menu == at} or FLEETING.match(line):
                continue
            # Some tell JSON anyhow, some where it is asked for, and some never.
            said = read(out) if is_run and read(out) is not None else read(pasted(site, f"{line} --json")[1])
            if isinstance(said, dict):
                shared = set(said) & set(answer)
                alike = checks.check(f"a command of {page} tells what its request tells", shared and all(said[name] == answer[name] for name in shared),
                                     (line, out[:400], json.dumps(answer)[:400]), quiet=True)
                counts["alike"] += alike
    checks.check(f"{counts['pages']} pages, {counts['requests']} requests and {counts['commands']} commands were pasted",
                 counts["pages"] >= 30 and counts["requests"] >= 30 and counts["commands"] >= 20, counts)
    checks.check(f"{counts['alike']} commands told what their request told", counts["alike"] >= 10, counts)


def question(site, tab, page, button):
    """What the question behind a button has to copy: its command and its request. The question is left without an answer."""
    site.go(tab, page)
    tab.value(KEEPS)
    tab.click(button, "button")
    found = []
    for name in ("Copy as command", "Copy as curl"):
        tab.click(name, "button")
        tab.until(f"window.copied.length > {len(found)}")
        found.append(tab.value("window.copied.at(-1)"))
    tab.key("Escape")
    tab.until("!document.querySelector('dialog[open]')")
    return found


def what_a_question_copies_does_it(site, checks):
    account = next(page for page in every_page(site) if re.fullmatch(r"accounts/[^?]+", page))
    link = {"link": "go.acme.test/r/poster"}
    tab = site.tab()
    for page, button, is_done, undo in (
            ("functions/rewardReferrals", "Pause…", lambda: any(one["paused"] for one in site.admin("GET", "functions")["functions"]),
             lambda: site.admin("POST", "functions/rewardReferrals/resume", {})),
            (account, "Disable…", lambda: site.admin("GET", account).get("disabled", False), lambda: site.admin("POST", f"{account}/enable", {})),
            ("links/show?link=go.acme.test/r/poster", "Switch off…", lambda: "disabledAt" in site.admin("GET", "links/link", **link),
             lambda: site.admin("PATCH", "links/link", {"disabled": False}, **link))):
        for name, line in zip(("command", "request"), question(site, tab, page, button)):
            before = is_done()
            code, out, err = pasted(site, line)
            checks.check(f"the {name} of {button} does it", code == 0 and is_done() and not before, (line, code, out[:300], err[:300]))
            undo()
    lines = question(site, tab, "rewards/u/bob", "Pay…")
    had = site.coins("bob")
    told = [(pasted(site, line)[0], site.coins("bob") - had) for line in lines]
    checks.check("the command of Pay… pays, and its request is the same payment", told == [(0, 50), (0, 50)], (told, lines))
    line = question(site, tab, "rewards/entry/2", "Reverse…")[0]
    code, out, err = pasted(site, line)
    checks.check("the command of Reverse… takes the payment back", code == 0 and site.coins("alice") == 0, (line, code, out[:300], err[:300]))


def what_the_data_page_asks_can_be_pasted(site, checks):
    tab = site.tab()
    node = {"it's": "a $HOME `x`", "big": 9007199254740993, "of": {"them": [True, "two\nlines"]}}
    holds = lambda path: site.read(urllib.parse.quote(f"config/{path}"))
    gone = lambda path: site.write(f"config/{path}", None, "DELETE")
    site.write("config/old", node)

    # Longer than what a program takes as one argument by far.
    long = {"it's": "long " * 14_000}
    site.write("config/long", long)
    site.write("config/long", 1)

    def added():
        tab.fill("Key", "new one")
        tab.fill("Value", "it's $5")

    def moved():
        tab.fill("New path", "/config/there")

    for page, opens, fills, is_done, undo in (
            ("data/config", "Add", added, lambda: holds("new one") == "it's $5", lambda: gone("new one")),
            ("data/config?sel=old", "Rename, copy", moved, lambda: holds("there") == node and holds("old") is None,
             lambda: (gone("there"), site.write("config/old", node))),
            ("data/config?sel=long&tab=history", "Restore this", None, lambda: holds("long") == long, lambda: site.write("config/long", 1)),
            ("data/config?sel=old", "Remove", None, lambda: holds("old") is None, lambda: site.write("config/old", node))):
        for name in ("Copy as command", "Copy as curl"):
            site.go(tab, page)
            tab.value(KEEPS)
            tab.click(opens, "button", at=int(opens == "Restore this"))
            tab.until("document.querySelector('dialog[open]') !== null")
            if fills:
                fills()
            tab.click(name, "button")
            tab.until("window.copied.length > 0")
            line = tab.value("window.copied.at(-1)")
            tab.key("Escape")
            before = is_done()
            code, out, err = pasted(site, line)
            checks.check(f"{name} of {opens} does it", code == 0 and is_done() and not before, (line, code, out[:300], err[:300]))
            undo()


CHECKS = [every_page_can_be_copied, what_a_question_copies_does_it, what_the_data_page_asks_can_be_pasted]
