"""Sessions of a server in production, as people live with them: one that ends while somebody types, two windows of one person, and a
restart of the server."""

import os
import re

from console import heading, pauses
from console_access import cookie_of, signs_in, status_of, with_cookie
from production import TOKEN, Plain
from serving import free_port, until

PORT = free_port()
SETTINGS = {
    "listen": {"host": "127.0.0.1", "port": PORT, "behindProxy": True},
    "accounts": {"publicURL": f"http://localhost:{PORT}"},
    "namespaces": ["stage-default-rtdb", "other"],
}
FIELD = "document.querySelector('.data-pane textarea')?.value"


def signed_in(site, page, namespace=None):
    tab = site.tab()
    tab.open(site.address(page, namespace))
    tab.until(lambda: heading(tab) not in ("", None))
    if heading(tab) == "Sign in":
        signs_in(tab, TOKEN)
    tab.until(lambda: heading(tab) not in ("", "Sign in"))
    tab.quiet()
    return tab


def ends_sessions(site):
    for one in site.admin("GET", "sessions")["sessions"]:
        if one["actor"] == "admin:ops":
            site.admin("DELETE", f"sessions/{one['id']}")


def a_session_ends_in_mid_edit(site, checks):
    site.write("note", {"text": "before"})
    tab = signed_in(site, "data/note?sel=text")
    # A window that is not live hears of it by the next thing that somebody does.
    pauses(tab)
    tab.until(f"{FIELD} === 'before'")
    tab.fill("Value", "after a long think")
    tab.until("document.querySelector('.data-pane').innerText.includes('Saving will')")
    site.provoke(r"network: .* 40[13] ")
    ends_sessions(site)
    tab.click("Save", "button")
    checks.check("the sign-in comes over the page", bool(tab.find("Key", "textbox")) and heading(tab) == "note", (heading(tab), tab.text[-300:]))
    checks.check("what was typed is still there", tab.value(FIELD) == "after a long think", tab.value(FIELD))
    checks.check("nothing was saved", site.read("note/text") == "before")
    signs_in(tab, TOKEN)
    checks.check("and saved after the sign-in", until(lambda: site.read("note/text") == "after a long think"), tab.text[-400:])
    checks.check("the page was not loaded again", tab.value(FIELD) in (None, "after a long think") and heading(tab) == "note", heading(tab))


def two_windows_of_one_person(site, checks):
    site.write("users/alice", {"name": "Alice"})
    site.write("users/zoe", {"name": "Zoe"}, namespace="other")
    first = signed_in(site, "data/users")
    second = signed_in(site, "data/users", "other")
    checks.check("a second window needs no key", second.shows("zoe"), second.text[-300:])
    checks.check("two windows on two namespaces do not mix", first.shows("alice") and "zoe" not in first.text and "alice" not in second.text)
    site.write("users/bob", {"name": "Bob"})
    checks.check("what is written in one is seen there", first.shows("bob"), first.text[-300:])
    second.stays(0.6)
    checks.check("and there alone", "bob" not in second.text and "other" in second.title, second.text[-300:])
    asked = [one["url"] for one in second.requests if "ns=stage" in one["url"]]
    checks.check("the other window asked for nothing of it", not asked, asked)
    first.click(re.compile("^Signed in as"), "button")
    first.click("Sign out", "menuitem")
    for name, tab in (("the window that signs out", first), ("the other one", second)):
        checks.check(f"signing out ends {name}", tab.until(
            lambda: heading(tab) == "Sign in" and "alice" not in tab.text and "zoe" not in tab.text),
                     tab.text[:300])


def a_restart_signs_everybody_out(site, checks):
    """Sessions are kept in memory alone."""
    site.write("users/alice", {"name": "Alice"})
    tab = signed_in(site, "data/users")
    tab.value("window.isTheSamePage = true")
    cookie = cookie_of(tab, site)
    works = status_of(with_cookie(site, cookie))
    checks.check("somebody is signed in", works("GET", "status") == 200 and tab.shows("alice"), tab.text[-300:])
    site.provoke("network: ", "answer 50")
    checks.check("the server ends orderly", site.server.stop() == 0)
    site.production.serve = site.server = Plain(site.program, os.path.join(site.folder, "doubloon.jsonc"))
    site.lines = site.server.lines
    checks.check("after a restart the page asks for a credential by itself", bool(tab.find("Key", "textbox")) and heading(tab) == "users", tab.text[:300])
    checks.check("the cookie of before is worth nothing", works("GET", "status") == 401, works("GET", "status"))
    signs_in(tab, TOKEN)
    checks.check("and the page goes on where it was", tab.until("!document.querySelector('dialog[open]')") and tab.shows("alice")
                 and tab.value("window.isTheSamePage === true"), tab.text[:300])
    site.write("users/carol", {"name": "Carol"})
    checks.check("live", tab.shows("carol"), tab.text[-300:])


CHECKS = [a_session_ends_in_mid_edit, two_windows_of_one_person, a_restart_signs_everybody_out]
