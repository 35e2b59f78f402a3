"""What administrators did and tried stands in the audit log: by whom, over the console or with a key, refused or not; and its file
of lines is one that a spreadsheet can open."""

import csv
import os
import re

from console import heading, is_ready, refers
from console_access import access_token, signs_in
from console_hostile import asked
from production import TOKEN
from serving import free_port, until

PORT = free_port()
SETTINGS = {
    "listen": {"host": "127.0.0.1", "port": PORT, "behindProxy": True},
    "accounts": {"publicURL": f"http://localhost:{PORT}"},
}
FORMULA = "=cmd|' /C calc'!A0"
# The cells of each line by the name of their column.
LINES = """[...document.querySelectorAll('main tbody tr')].map((row) => Object.fromEntries(
  [...row.cells].map((cell) => [cell.dataset.name, cell.innerText.replace(/\\s+/g, ' ').trim()])))"""


def actions(site, **query):
    return site.admin("GET", "audits", limit=200, **query)["actions"]


def via(row):
    return row["detail"].get("via", "key")


def reason(row):
    detail = row["detail"]
    return str((detail.get("body") or {}).get("reason") or detail.get("reason") or "")


def deeds_are_done(site, checks):
    """Some over the page, some with a key, some that are refused."""
    refers(site)
    tab = site.tab()
    tab.open(site.address("functions"))
    signs_in(tab, TOKEN)
    tab.until(lambda: heading(tab) == "Functions")
    is_ready(tab)
    tab.click("Pause…", "button")
    tab.fill(re.compile("^Reason"), FORMULA)
    tab.click(re.compile("^Pause "), "button")
    checks.check("a function is paused over the page", until(lambda: any(one["paused"] for one in site.admin("GET", "functions")["functions"])), tab.text[-300:])
    tab.find("Resume…", "button")
    tab.click("Resume…", "button")
    tab.click(re.compile("^Resume "), "button")
    checks.check("and goes on", until(lambda: not any(one["paused"] for one in site.admin("GET", "functions")["functions"])), tab.text[-300:])
    token = access_token(site, "support")
    with_key = lambda method, path, body: asked(f"{site.base}/admin/v1/{path}?ns={site.namespace}", {
        "Authorization": f"Bearer {token}", "Content-Type": "application/json"}, method, body).status
    entry = site.admin("GET", "ledger/statement", account="user:alice")["entries"][0]["sequence"]
    order = f'{{"sequence": {entry}, "reason": "wrong season"}}'
    checks.check("a service account takes a payment back with its key", with_key("POST", "ledger/reverse", order) == 200)
    checks.check("an entry that there is not it does not", with_key("POST", "ledger/reverse", order.replace(f"{entry},", "999999,")) >= 400)
    checks.check("and it may not write into the tree", with_key("PUT", "data", '{"path": "/users/eve", "value": 1, "reason": "a trial"}') == 403)


def the_page_shows_them(site, checks):
    tab = site.tab()
    tab.open(site.address("audit"))
    signs_in(tab, TOKEN)
    tab.until(lambda: heading(tab) == "Audit")
    is_ready(tab)

    def told(**query):
        """Whether the page shows the server's records, each with all that it says."""
        rows, shown = actions(site, **query), tab.value(LINES)
        wanted = [(one["action"], one["actor"], via(one), reason(one)) for one in rows]
        found = [(line.get("Action"), line.get("Actor"), line.get("Via"), line.get("Reason")) for line in shown]
        words = ["ok" if one["result"] == "ok" else one["result"] for one in rows]
        return wanted == found and all(word in line["Result"] for word, line in zip(words, shown))

    def seen():
        return tab.value(LINES)[:6]

    def goes(query):
        site.go(tab, f"audit?{query}")

    goes("")
    checks.check("every record of the server is shown: action, actor, way, reason, result", tab.until(told), (seen(), actions(site)[:3]))
    deeds = {(one["action"], one["actor"], via(one), one["result"] == "ok") for one in actions(site)}
    wanted = {("functions.pause", "admin:ops", "console", True), ("functions.resume", "admin:ops", "console", True), ("session.open", "admin:ops", "console", True),
              ("service-accounts.create", "admin:ops", "key", True), ("ledger.reverse", "admin:the-support", "key", True),
              ("ledger.reverse", "admin:the-support", "key", False), ("data.set", "admin:the-support", "key", False)}
    checks.check("what was done and refused is among them, by whom and how", wanted <= deeds, sorted(wanted - deeds))
    for query, filters in (("actor=admin:the-support", {"actor": "admin:the-support"}), ("result=refused", {"result": "refused"}),
                           ("action=functions.pause", {"action": "functions.pause"}), ("except=data&since=1d", {"except": "data"})):
        goes(query)
        checks.check(f"{query} shows those alone", tab.until(lambda: seen() and told(**filters)), (seen(), actions(site, **filters)[:3]))
    goes("")
    tab.fill("Actor", "admin:the-support")
    tab.click("Filter", "button")
    checks.check("the same by its form", tab.until(lambda: "actor=admin%3Athe-support" in tab.address) and is_ready(tab)
                 and tab.until(lambda: seen() and told(actor="admin:the-support")), (tab.address, seen()))


def its_file_is_no_formula(site, checks):
    tab = site.tab()
    tab.open(site.address("audit"))
    signs_in(tab, TOKEN)
    tab.until(lambda: heading(tab) == "Audit")
    site.go(tab, "audit?actor=admin:ops&action=functions.pause")
    tab.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=site.folder, browserContextId=site._context)
    tab.click("CSV", "button")
    path = os.path.join(site.folder, "audit.csv")
    checks.check("the page saves a file", until(lambda: os.path.exists(path) and os.path.getsize(path) > 0), os.listdir(site.folder))
    with open(path, encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file)
    rows = actions(site, actor="admin:ops", action="functions.pause")
    checks.check("with the records that are shown", [line[head.index("id")] for line in lines] == [str(one["id"]) for one in rows] and lines, (head, lines[:2]))
    checks.check("of which a spreadsheet runs none", [line[head.index("reason")] for line in lines] == ["'" + FORMULA]
                 and not [cell for line in lines for cell in line if cell[:1] in "=+-@\t\r" and cell], lines[:2])


CHECKS = [deeds_are_done, the_page_shows_them, its_file_is_no_formula]
