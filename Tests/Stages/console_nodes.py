"""The nodes of a store in PostgreSQL, on the overview. The server here has its data in memory: what a node that leads would answer
is answered in its place; that it does is seen in the stage cluster."""

import json
import re

from console import is_ready
from console_looks import NARROW, OF_COLOURS, WIDE, axe, fits, judged

CLUSTER = r"/admin/v1/cluster\b"
MARKUP = "<img src=x onerror=alert(1)>"
# The head of the panel, where it is to be seen.
IS_SHOWN = "[...document.querySelectorAll('main h2')].some((e) => e.innerText === 'Nodes' && e.checkVisibility())"
ROWS = """[...[...document.querySelectorAll('main section.panel')].find((e) => e.querySelector('h2').innerText === 'Nodes')
  .querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\\s+/g, ' ').trim()))"""


def told(*nodes, batches=1234):
    """What the node that leads answers: nodes are (name, address, silent for so many milliseconds)."""
    term = {"number": 7, "startedAt": 1_700_000_000_000, "batches": batches, "bytes": 3_456_789 if batches else 0}
    if batches:
        term["batchMicros"] = 2100
    listed = [{"name": name, "version": "0.1.0", "leads": number == 0, "alive": silent < 30_000, "silentMs": silent,
               **({"address": address} if address else {})} for number, (name, address, silent) in enumerate(nodes)]
    return json.dumps({"clustered": True, "node": nodes[0][0] if nodes else "a", "term": term, "nodes": listed})


def asked(tab):
    return len([one for one in tab.requests if re.search(CLUSTER, one["url"])])


def a_single_server_shows_nothing_of_it(site, checks):
    checks.check("a server whose data folder is the truth has no nodes", site.admin("GET", "cluster") == {"clustered": False})
    tab = site.open("overview")
    checks.check("the overview shows nothing of nodes", not tab.value(IS_SHOWN) and "PostgreSQL" not in tab.text, tab.text[-300:])
    # The page looks at the rest every ten seconds.
    looks = lambda: len([one for one in tab.requests if re.search(r"/admin/v1/status", one["url"])])
    before = looks()
    tab.stays(22)
    checks.check("and asks for them once", looks() > before + 1 and asked(tab) == 1, f"{asked(tab)} in {looks()} looks")
    site.provoke("503")
    tab.tells(CLUSTER, 503, '{"error":"No node leads."}')
    tab.reload()
    is_ready(tab)
    checks.check("nor where the first answer fails", not tab.value(IS_SHOWN) and "No node leads." not in tab.text, tab.text[-300:])


def nodes_are_listed(site, checks):
    tab = site.tab()
    tab.tells(CLUSTER, 200, told(("host-a", "10.0.0.1:9000", 0), ("host-b", None, 0), ("host-c", "10.0.0.3:9000", 10_000),
                                 (MARKUP, "10.0.0.4:9000", 200_000)))
    site.go(tab, "overview")
    checks.check("a store in PostgreSQL has a panel of its nodes", tab.until(IS_SHOWN))
    rows = tab.value(ROWS)
    checks.check("with what each does, address and version", rows == [
        ["host-a", "● leads", "10.0.0.1:9000", "0.1.0"], ["host-b", "● follows", "none given", "0.1.0"],
        ["host-c", "◔ silent for 10 s", "10.0.0.3:9000", "0.1.0"], [MARKUP, "✕ silent for 3 min 20 s", "10.0.0.4:9000", "0.1.0"]], rows)
    checks.check("what a server says is text and no markup", not tab.value("!!document.querySelector('main img')"))
    checks.check("the term is told, and what a batch takes", "Term 7 began" in tab.text and "1,234 batches of it, 3.3 MB" in tab.text
                 and "durable after 2.1 ms" in tab.text, tab.text[-500:])
    forgets = f"doubloon cluster forget '{MARKUP}' --postgres URL"
    checks.check("of the silent one it is said what to do", tab.text.count("If it will not come back") == 1 and forgets in tab.text,
                 tab.text[-500:])
    checks.check("and the command can be copied", len(tab.named(re.compile("^Copy the command that forgets"), "button")) == 1)
    source = axe()
    for scheme, size, rules in (("light", WIDE, ()), ("dark", WIDE, OF_COLOURS), ("dark", NARROW, ()), ("light", NARROW, OF_COLOURS)):
        tab.emulate(scheme, size, True)
        found = judged(tab, source, *rules)
        checks.check(f"axe finds nothing on it, {scheme}, {size[0]} wide", not found, "\n        ".join(found))
    fits(tab, "the overview with nodes", checks)


def another_node_leads(site, checks):
    tab = site.tab()
    tab.tells(CLUSTER, 200, told(batches=0))
    site.go(tab, "overview")
    checks.check("before the first look the list says why it is empty", tab.until(IS_SHOWN) and tab.shows("after the first look")
                 and "Nothing was written in it yet." in tab.text, tab.text[-400:])
    tab.tells(CLUSTER, 200, told(("host-b", "10.0.0.2:9000", 0), ("host-a", "10.0.0.1:9000", 40_000)))
    checks.check("who leads now, and who is silent, is shown by itself", tab.shows("silent for 40 s")
                 and tab.value(ROWS)[0] == ["host-b", "● leads", "10.0.0.2:9000", "0.1.0"], tab.value(ROWS))
    button = re.compile("^Copy the command that forgets host-a")
    tab.focus(button, "button")
    before = asked(tab)
    tab.stays(12)
    checks.check("the list stays while somebody is in it", asked(tab) == before and button.search(tab.focused or ""),
                 (asked(tab), before, tab.focused))


CHECKS = [a_single_server_shows_nothing_of_it, nodes_are_listed, another_node_leads]
