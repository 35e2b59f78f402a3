"""The tree as people move it about: files in and out, what was brought back from history, keys of every kind, commands that are
copied from the page and run in a shell."""

import json
import os
import re
import shlex
import subprocess
import time
import urllib.parse

from serving import until

BIG = 9007199254740993
KEYS = ["__proto__", "constructor", "hasOwnProperty", "10", "9", "007", "-5", "-0", "2147483647", "2147483648", "-2147483649", " ", " lead", "a b",
        "it's", "\"quoted\"", "`id`", "<b>&amp;", "%2e", "?x=1", "a&b=c", "+", "\\", "\u00e9", "e\u0301", "\U0001f3f4\u200d\u2620\ufe0f",
        "\uffff", "\ue000", "\U0001f600", "ключ", "k" * 768, "Z", "~", "null", "true", "--help", "-", ":", ";", "|", "*"]
# The keys of the tree, from its first row to its last, as somebody sees them who scrolls down.
SCROLLED = """(async () => {
  const grid = document.querySelector('[role=treegrid]'), seen = new Set(), begin = Date.now();
  const look = () => { for (const e of grid.querySelectorAll('[data-id^="/"]')) seen.add(e.dataset.id.slice(1)); };
  for (let still = 0; still < 10 && Date.now() - begin < 90000;) {
    const before = seen.size;
    look();
    grid.scrollTop += grid.clientHeight / 2;
    await new Promise((done) => setTimeout(done, 40));
    look();
    still = seen.size === before && !grid.querySelector('.tree-more') ? still + 1 : 0;
  }
  return [...seen];
})()"""
SHELL_KEYS = ["it's", "a b", "-x", "`id`", "\"q\"", "a;b", "\\n", "*"]


def count(site):
    """Values of a large import: fewer where the program was built for debugging."""
    return 9_000 if "debug" in os.path.realpath(site.program) else 51_000


def document(size):
    """A document with priorities of values and of nodes, large integers, and one value at the place of a node."""
    people = {}
    for number in range(size // 3):
        people[f"p{number:05}"] = {"level": {".value": number % 9, ".priority": number % 7} if number % 5 == 0 else number % 9,
                                   "name": f"Player {number}", "gold": BIG + number}
    people["p00001"][".priority"] = "first"
    people[".priority"] = 3
    return {"people": people}


def exported(site, path):
    return site.ask("GET", f"/admin/v1/data/export?ns={site.namespace}&path={path}").json


def asked(site, route, at, **query):
    """A route of the administrators' surface that is about a path."""
    words = urllib.parse.urlencode({"ns": site.namespace, "path": at, **query}, quote_via=urllib.parse.quote)
    return site.ask("GET", f"/admin/v1/{route}?{words}").json


def choose(tab, path):
    """Chooses a file of the disk in the dialog."""
    tab.until("!!document.querySelector('dialog input[type=file]')")
    field = tab.ask("Runtime.evaluate", expression="document.querySelector('dialog input[type=file]')")["result"]["objectId"]
    tab.ask("DOM.setFileInputFiles", objectId=field, files=[path])


def a_file_comes_in_and_goes_out(site, checks):
    size = count(site)
    path = os.path.join(site.folder, "in.json")
    with open(path, "w") as file:
        json.dump(document(size), file)
    site.write("world/people/stale", {"a": 1, "b": 2})
    tab = site.open("data/world")
    begin = time.monotonic()
    tab.click("Import", "button")
    choose(tab, path)
    checks.check("a dry run counts before", tab.shows(f"{size:,} added, 0 changed, 2 removed", 120), tab.text[-600:])
    checks.check("and changes nothing", site.read("world") == {"people": {"stale": {"a": 1, "b": 2}}})
    tab.value("window.seen = new Set(); new MutationObserver(() => seen.add(document.querySelector('progress').value))"
              ".observe(document.querySelector('progress'), {attributes: true})")
    tab.click(f"Import {size:,} values", "button")
    checks.check("the import ends", tab.shows(f"Imported {size:,} values", 180), tab.text[-600:])
    print(f"        {size:,} values: {time.monotonic() - begin:.1f} s with their dry run", flush=True)
    checks.check("on the way there was progress", len(tab.value("[...seen]")) >= 3, tab.value("[...seen]"))
    checks.check("what is exported is what came in, priorities too", exported(site, "world") == document(size))
    tab.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=site.folder, browserContextId=site._context)
    tab.click("Export", "button")
    names = lambda: [name for name in os.listdir(site.folder) if name.endswith(".json") and name != "in.json"]
    checks.check("the page exports a file", tab.shows("Exported") and until(lambda: names()), os.listdir(site.folder))
    with open(os.path.join(site.folder, names()[0])) as file:
        checks.check("with the same", json.load(file) == document(size), names())


def an_import_can_be_ended_and_go_on(site, checks):
    path = os.path.join(site.folder, "more.json")
    wanted = {f"k{number:05}": number for number in range(9_000)}
    with open(path, "w") as file:
        json.dump(wanted, file)
    tab = site.open("data/ended")
    tab.click("Import", "button")
    choose(tab, path)
    tab.find("Import 9,000 values", "button")
    tab.hold("data/import")
    tab.click("Import 9,000 values", "button")
    tab.until(lambda: len(tab.held) == 1)
    tab.release(tab.held[0])
    checks.check("it goes part by part", tab.until(lambda: len(tab.held) == 2))
    tab.click("Cancel", "button")
    tab.release()
    checks.check("one that was ended says how far it came", tab.shows("4,000 of 9,000 values are in"), tab.text[-500:])
    # The part that was on its way may have arrived, or not.
    checks.check("and has come so far", len(site.read("ended")) in (4000, 8000), len(site.read("ended")))
    site.command("data", "import", "/ended", path, "--ns", site.namespace)
    checks.check("the same import makes it whole", site.read("ended") == wanted)
    told = site.command("data", "import", "/ended", path, "--dry-run")
    checks.check("then there is nothing more to do", "0 added, 0 changed, 0 removed" in told, told)


def a_file_that_is_none_is_refused(site, checks):
    site.write("kept", {"a": 1})
    tab = site.open("data/kept")
    tab.click("Import", "button")
    for number, (text, words) in enumerate((('{"a": 1', "expected"), ('{"x": {".sv": "timestamp"}}', ".priority and .value only"))):
        path = os.path.join(site.folder, f"bad{number}.json")
        with open(path, "w") as file:
            file.write(text)
        choose(tab, path)
        checks.check(f"{text} is refused with the reason", tab.shows(words), tab.text[-400:])
    tab.key("Escape")
    checks.check("and nothing is changed", site.read("kept") == {"a": 1})


def a_subtree_comes_back_from_history(site, checks):
    whole = {f"c{number:04}": {"v": number} for number in range(1000)}
    site.write("lost", whole)
    site.ask("DELETE", f"/lost.json?ns={site.namespace}")
    revision = lambda: next(one["revision"] for one in site.admin("GET", "namespaces")["namespaces"] if one["name"] == site.namespace)
    removed = revision()
    tab = site.open("data/lost?tab=history")
    tab.click("Restore this", "button", at=-1)
    checks.check("restoring is previewed", tab.shows(re.compile(r"0 → 1,000 leaves")), tab.text[-500:])
    tab.fill(re.compile("Reason"), "removed by mistake")
    tab.click(re.compile(r"^Restore r\d+$"), "button")
    checks.check("all of it is back", until(lambda: site.read("lost") == whole))
    commits = asked(site, "data/log", "/lost", limit=10)["commits"]
    checks.check("by one commit", [one["revision"] > removed for one in commits] == [True, False, False], [one["revision"] for one in commits])


def the_past_says_what_changed_since(site, checks):
    name = "since-default-rtdb"
    site.admin("POST", "namespaces", {"name": name})
    site.write("story", {"a": 1, "b": 1, "c": 1}, namespace=name)
    for value in range(2, 160):
        site.write("story/a", value, namespace=name)
    site.ask("DELETE", f"/story/c.json?ns={name}")
    tab = site.open("data/story?at=r2", name)
    rows = lambda: tab.value("[...document.querySelectorAll('[role=treegrid] [data-id]')].map((e) => e.innerText.replace(/\\s+/g, ' '))")
    checks.check("what changed since is marked", tab.until(lambda: len(rows()) > 2 and "changed since" in rows()[0] and "gone since" in rows()[2]), rows())
    checks.check("what did not is not", "since" not in rows()[1], rows())
    tab.quiet()
    logs = [one for one in tab.requests if "data/log" in one["url"]]
    checks.check("of a long history only the ends are read", len(logs) <= 4, [one["url"] for one in logs])
    for value in (3, 4):
        tab.click("Newer", "button")
        checks.check(f"the next commit is {value}, however many there are", tab.until(f"new URLSearchParams(location.search).get('at') === 'r{value}'"),
                     tab.address)
    tab.click("Play", "button")
    checks.check("it plays on by itself", tab.until("Number(new URLSearchParams(location.search).get('at')?.slice(1)) >= 6"), tab.address)
    tab.click("Stop", "button")


def keys_of_every_kind(site, checks):
    keys = list(dict.fromkeys(KEYS + [f"{word}{number}" for number in range(250) for word in ("x", "-", "", "Ü")]))[:1000]
    site.admin("PUT", "data", {"path": "keys", "value": {key: number for number, key in enumerate(keys)}, "reason": "keys"})
    tab = site.open("data/keys")
    order, after = [], None
    while not order or after:
        window = asked(site, "data/children", "/keys", limit=200, **({"after": after} if after else {}))
        order += [row["key"] for row in window["rows"]]
        after = window.get("next")
    checks.check("there are as many keys as were written", len(order) == len(keys), (len(order), len(keys)))
    module = next(one["url"] for one in tab.requests if one["url"].endswith("/tree.js"))
    sorted_here = tab.value(f"import({json.dumps(module)}).then((m) => {json.dumps(sorted(order))}.sort(m.compareKeys))")
    wrong = [(one, other) for one, other in zip(sorted_here, order) if one != other]
    checks.check(f"the page orders {len(order)} keys as the server does", not wrong, wrong[:5])
    scrolled = tab.value(SCROLLED)
    wrong = [(one, other) for one, other in zip(scrolled, order) if one != other]
    checks.check("who scrolls down sees each, in that order", scrolled == order, (len(scrolled), wrong[:5]))
    address = lambda key: "data/keys?" + "sel=" + urllib.parse.quote(key, safe="")
    chosen = ["__proto__", "-5", "2147483648", "a b", "it's", "<b>&amp;", "%2e", "\U0001f3f4\u200d\u2620\ufe0f", "k" * 768]
    field = "document.querySelector('.data-pane textarea')?.value"
    for key in chosen:
        site.go(tab, address(key))
        checks.check(f"{key[:20]!r} opens", tab.until(f"{field} === {json.dumps(str(keys.index(key)))}"), tab.value(field), quiet=True)
        tab.fill("Value", "77")
        tab.click("Save", "button")
        stored = lambda: asked(site, "data", f"/keys/{key}")["value"]
        checks.check(f"{key[:20]!r} can be edited", until(lambda: stored() == 77), (stored(), tab.text[-300:]), quiet=True)
        # The pane is drawn again by what was saved.
        tab.shows("Saved") and tab.quiet()
        # Not by its name: of so long a key the tree of names is made for long.
        tab.until("(() => { const e = [...document.querySelectorAll('.data-pane button')].find((e) => e.innerText.startsWith('Remove')); e?.click(); return !!e })()")
        tab.fill(re.compile("Reason"), "a trial")
        tab.click(re.compile("^Remove ."), "button")
        checks.check(f"{key[:20]!r} can be removed", until(lambda: stored() is None), tab.text[-300:], quiet=True)
    checks.check(f"{len(chosen)} of them were opened, edited and removed", True)


def ran(site, text):
    """What a copied line prints in a shell, as JSON."""
    os.makedirs(os.path.join(site.folder, "bin"), exist_ok=True)
    program = os.path.join(site.folder, "bin", "doubloon")
    if not os.path.exists(program):
        os.symlink(site.program, program)
    environment = {**os.environ, "PATH": f"{os.path.dirname(program)}:{os.environ['PATH']}", "DOUBLOON_KEY": site.key,
                   "DOUBLOON_SERVER": f"http://127.0.0.1:{site.port}"}
    done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, env=environment, timeout=60)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return f"{done.stdout[:200]}{done.stderr[:300]}"


def copied(tab):
    """Every line of the page's copy menu that is for a shell, by its name."""
    tab.value("Object.defineProperty(navigator.clipboard, 'writeText', {configurable: true, value: async (text) => { window.copied = text }})")
    found = {}
    tab.click("Copy", "button")
    tab.until("!!document.querySelector('[role=menuitem]')")
    names = [one["name"] for one in tab.named(re.compile(", as (command|curl)$"), "menuitem")]
    tab.key("Escape")
    for name in names:
        tab.value("window.copied = null")
        tab.click("Copy", "button")
        tab.click(name, "menuitem")
        found[name] = tab.until("window.copied")
    return found


def what_is_copied_runs_in_a_shell(site, checks):
    for number, key in enumerate(SHELL_KEYS):
        site.admin("PUT", "data", {"path": f"shell/{key}", "value": {"number": BIG, "text": f"{key} $HOME"}, "reason": "a trial"})
        site.admin("PUT", "data", {"path": f"shell/{key}/number", "value": number, "reason": "a trial"})
    tab = site.open("data/shell")
    quote = lambda key: urllib.parse.quote(key, safe="")
    pages = [f"data/shell/{quote(key)}" for key in SHELL_KEYS]
    pages += [f"data/shell?sel={quote(SHELL_KEYS[0])}&tab=history", f"data/shell/{quote(SHELL_KEYS[1])}?tab=diff&at=r3&to=r4",
              f"data/shell?from={quote(SHELL_KEYS[2])}", "data/shell?order=child:number"]
    total = 0
    for page in pages:
        site.go(tab, page)
        lines = copied(tab)
        checks.check(f"{page} has commands to copy", len(lines) >= 4, lines, quiet=True)
        for name in [name for name in lines if name.endswith("command")]:
            command, curl = lines[name], lines[name.replace("command", "curl")]
            said, answered = ran(site, command), ran(site, curl)
            if isinstance(answered, dict) and name.startswith("Value"):
                answered = answered.get("value")
            checks.check(f"{name} of {page} gives what curl gives", said == answered, (command, said, curl, answered), quiet=True)
            total += said is not None
    checks.check(f"{total} commands gave the same as their curl", total >= 2 * len(pages) - 1)
    checks.check("no key is in them", all("owner" not in shlex.split(line) for line in lines.values()), lines)


CHECKS = [
    a_file_comes_in_and_goes_out, an_import_can_be_ended_and_go_on, a_file_that_is_none_is_refused, a_subtree_comes_back_from_history,
    the_past_says_what_changed_since, keys_of_every_kind, what_is_copied_runs_in_a_shell,
]
