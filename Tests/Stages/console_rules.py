"""The page Rules: trials and their links, tests with coverage, faults in place, what others put meanwhile, versions; all of it by
keyboard, and with texts of people who mean harm.
"""

import json
import os
import re
import subprocess

from console import is_ready

RULES = """{
  // levels go up by one
  "rules": {
    "users": {"$uid": {
      ".write": "auth.uid === $uid",
      "level": {
        ".validate": "newData.val() === data.val() + 1"
      }
    }}
  }
}
"""
TEXT = "document.querySelector('.code-input').value"
LIT = "[...CSS.highlights.get('code-{}') ?? []].map((range) => range.toString())"
GUTTER = "[...document.querySelectorAll('.code-gutter')].at(-1).innerText"
DENIED = "rules?tab=try&op=set&path=/users/bob/level&value=7&as=bob"


def hold(site, source, reason="a check"):
    return site.admin("PUT", "rules", {"source": source, "reason": reason})


def held(site):
    return site.admin("GET", "rules")["source"]


def choose(tab, field, word):
    """Chooses in a list by typing, as the keyboard does."""
    tab.focus(field, "combobox")
    tab.type(word)


def a_page_without_rules(site, checks):
    tab = site.open(DENIED)
    checks.check("where there are no rules a trial says so, and nothing is wrong", tab.shows("There are no rules") and tab.shows("ALLOWED"), tab.text[-400:])
    site.go(tab, "rules")
    checks.check("and the editor shows what holds then", tab.shows("has no rules yet") and '".read": true' in tab.value(TEXT), tab.text[-400:])
    site.go(tab, "rules?tab=history")
    checks.check("there is no version", tab.shows("The first that are saved are version 1"), tab.text[-300:])


def a_trial_is_explained_and_becomes_a_test(site, checks):
    hold(site, RULES)
    site.write("users/bob/level", 4)
    tab = site.open("rules?tab=try")
    choose(tab, "Operation", "set")
    choose(tab, "As", "a")
    for field, text in (("Path", "/users/bob/level"), ("Value, as JSON", "7"), ("A player, by uid", "bob")):
        tab.fill(field, text, "textbox")
    tab.key("Enter")
    checks.check("a denial names the rule, its line and what it saw", tab.shows("DENIED") and tab.shows("line 7:22")
                 and tab.shows("newData.val() = 7") and tab.shows("data.val() = 4"), tab.text[-900:])
    checks.check("the rule is lit in the source", tab.until(lambda: any("newData.val() ===" in one for one in tab.value(LIT.format("lit")))), tab.value(LIT.format("lit")))
    checks.check("and its line is marked", tab.until(lambda: "✕ 7" in tab.value(GUTTER) and "● 5" in tab.value(GUTTER)), tab.value(GUTTER))
    other = site.tab()
    other.open(tab.address)
    checks.check("the trial's address opens the same answer elsewhere", is_ready(other) and other.shows("newData.val() = 7")
                 and other.value("document.querySelector('.verdict').innerText") == tab.value("document.querySelector('.verdict').innerText"), other.text[-500:])
    tab.click("Add as a test", "button")
    checks.check("it becomes a test, which runs", tab.until("location.search.includes('tab=tests')") and tab.shows("1/1"), tab.text[-900:])
    row = "[...document.querySelectorAll('tr')].find((row) => row.innerText.includes('.validate'))?.innerText ?? ''"
    checks.check("what it does not prove is said by line", tab.until(f"({row}).includes('◐ in part')") and "never true" in tab.value(row), tab.value(row))
    checks.check("and marked there", tab.until(lambda: "◐ 7" in tab.value(GUTTER)), tab.value(GUTTER))
    site.go(tab, DENIED.replace("value=7", "value=5"))
    tab.click("Add as a test", "button")
    checks.check("a second case turns the line", tab.shows("2/2") and tab.until(f"({row}).includes('● proved both ways')") and tab.until(lambda: "● 7" in tab.value(GUTTER)),
                 tab.value(row))
    text = tab.value(TEXT)
    cases = json.loads(text)["cases"]
    checks.check("the cases say who, what and which rule decided", cases[0]["by"] == ".validate /users/$uid/level" and cases[0]["as"] == {"uid": "bob"}
                 and [one["expect"] for one in cases] == ["denied", "allowed"], text[:600])
    path = os.path.join(site.folder, "cases.json")
    for name, body in (("cases.json", text), ("rules.json", RULES)):
        with open(os.path.join(site.folder, name), "w", encoding="utf-8") as file:
            file.write(body)
    run = subprocess.run([site.program, "rules", "test", path], text=True, capture_output=True)
    checks.check("the command runs the same file", run.returncode == 0 and "2 cases, all as expected" in run.stdout, run.stdout + run.stderr)
    tab.fill("The tests", text.replace('"allowed"', '"denied"'), "textbox")
    tab.click("Run", "button")
    checks.check("a case that is not as expected says why", tab.shows("1/2") and tab.shows("must be denied, but is allowed"), tab.text[-900:])
    tab.fill("The tests", "{", "textbox")
    tab.click("Run", "button")
    checks.check("tests that are no JSON are said to be so", tab.shows("The tests are no JSON"), tab.text[-300:])



def a_test_says_which_data_it_lacks(site, checks):
    hold(site, RULES)
    site.write("users/bob/level", 4)
    site.write("many", {f"k{number}": number for number in range(300)})
    tab = site.open(DENIED)
    tab.click("Add as a test", "button")
    checks.check("where not all data fit, the case says which it has", tab.shows("only the data at /users/bob"), tab.text[-400:])
    checks.check("and has those", tab.until("location.search.includes('tab=tests')") and tab.until(lambda: '"bob"' in (tab.value(TEXT) or ""))
                 and "k299" not in tab.value(TEXT), tab.value(TEXT))
    site.write("many", 0)


def as_an_account(site, checks):
    made = site.ask("POST", "/v1/accounts:signUp?key=k", {"email": "bob@example.com", "password": "secret-1"}).json["localId"]
    tab = site.open(f"rules?tab=try&op=set&path=/users/{made}/level&value=1&account=bob@example.com")
    checks.check("an account is asked for by its address, as it would sign in", tab.shows("true") and tab.shows(f"/users/{made}"), tab.text[-500:])
    seen = site.admin("POST", "rules/explain", {"operation": "read", "path": "/", "account": "bob@example.com"})["auth"]
    checks.check("with its claims", seen["uid"] == made and seen["token"]["email"] == "bob@example.com", seen)


def faults_are_marked_and_not_saved(site, checks):
    before = held(site)
    tab = site.open("rules")
    bad = RULES.replace("auth.uid === $uid", "auth.uid === $who").replace('".validate"', '".valid"')
    tab.fill("The rules", bad, "textbox")
    checks.check("every fault is said, with line and column", tab.shows("Line 5, column 31") and tab.shows("Line 7, column 9") and tab.shows("2 faults"), tab.text[-700:])
    checks.check("and marked in place", tab.until(
        lambda: "✕ 5" in tab.value(GUTTER) and "✕ 7" in tab.value(GUTTER) and "$who" in tab.value(LIT.format("fault"))),
                 (tab.value(GUTTER), tab.value(LIT.format("fault"))))
    checks.check("the field says that it is not valid", tab.until("document.querySelector('.code-input').getAttribute('aria-invalid') === 'true'"))
    tab.click(re.compile("^Save"), "button")
    checks.check("Save is refused, and leads to the first", tab.shows("Not saved: 2 faults") and tab.until(
        "(() => { const f = document.activeElement; return f.value?.slice(f.selectionStart, f.selectionStart + 4) })() === '$who'")
                 and not tab.value("!!document.querySelector('dialog')"), tab.text[-300:])
    checks.check("nothing was replaced", held(site) == before)
    tab.fill("The rules", before, "textbox")
    checks.check("what is repaired is sound", tab.shows("0 faults") and tab.until("document.querySelector('.code-input').getAttribute('aria-invalid') === 'false'"))


def others_are_not_overwritten(site, checks):
    hold(site, RULES)
    tab = site.open("rules")
    mine = RULES.replace("by one", "by one, and mine")
    tab.fill("The rules", mine, "textbox")
    theirs = RULES.replace("by one", "by one, and theirs")
    path = os.path.join(site.folder, "theirs.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(theirs)
    site.command("rules", "put", path, "--reason", "from a shell")
    tab.click(re.compile("^Save"), "button")
    checks.check("Save shows what it would change", tab.shows("1 line removed, 1 added") and tab.shows("and mine"), tab.text[-600:])
    tab.click("Replace the rules", "button")
    checks.check("and takes a reason", tab.shows("A reason is needed"), tab.text[-300:])
    tab.fill("Reason, for the record", "a better text", "textbox")
    site.provoke(r"network: .* 412 ")
    tab.key("Enter")
    checks.check("replaced by a command meanwhile: both versions are shown", tab.shows("Not saved: the rules were replaced meanwhile") and tab.shows("from a shell")
                 and tab.shows("and theirs") and tab.shows("and mine"), tab.text[-900:])
    checks.check("and neither is lost", held(site) == theirs and tab.value(TEXT) == mine)
    tab.click("Take theirs", "button")
    checks.check("theirs can be taken", tab.until(lambda: tab.value(TEXT) == theirs))
    tab.click("Yours again", "button")
    checks.check("and one's own taken up again", tab.until(lambda: tab.value(TEXT) == mine), tab.value(TEXT))
    tab.click(re.compile("^Save"), "button")
    tab.fill("Reason, for the record", "a better text", "textbox")
    tab.key("Enter")
    checks.check("and saved over them, knowing them", tab.shows("The rules hold now") and held(site) == mine, tab.text[-400:])
    last = site.admin("GET", "rules/history")["versions"][:2]
    checks.check("both are in the history, with who and why", [(one["reason"], one["actor"]) for one in last] == [
        ("a better text", "admin:owner"), ("from a shell", "admin:owner")], last)


def versions_are_compared_and_put_back(site, checks):
    hold(site, RULES, "the first")
    hold(site, RULES.replace("+ 1", "+ 2"), "two at once")
    tab = site.open("rules?tab=history")
    versions = site.admin("GET", "rules/history")["versions"]
    wanted = versions[1]["version"]
    checks.check("the versions are listed with who and why", tab.shows("two at once") and tab.shows("the first") and tab.shows("admin:owner"), tab.text[-500:])
    tab.click(str(wanted), "link")
    checks.check("one of them is shown with what changed since", tab.until(f"location.search.includes('rev={wanted}')") and tab.shows("From it to what holds now")
                 and tab.shows("data.val() + 2"), tab.text[-900:])
    changed = "[...document.querySelectorAll('.diff tr.removed, .diff tr.added')].map((row) => row.innerText.split(/\\s+/).slice(0, 2).join(' '))"
    checks.check("with the numbers of its lines", tab.until(lambda: tab.value(changed)[-2:] == ["7 −", " 7"]), tab.value(changed))
    other = site.open(f"rules?tab=history&rev={wanted}")
    checks.check("by its address, too", other.shows("From it to what holds now"))
    tab.click(re.compile("^Roll back"), "button")
    checks.check("going back shows what it does", tab.shows("It becomes a new version") and tab.shows("1 line removed, 1 added"), tab.text[-500:])
    tab.fill("Reason, for the record", "one at a time", "textbox")
    tab.key("Enter")
    checks.check("and is a new version", tab.shows("hold now, as version") and held(site) == RULES, tab.text[-400:])
    newest = site.admin("GET", "rules/history")["versions"][0]
    checks.check("which says what it restores, and why", newest["restores"] == wanted and newest["reason"] == "one at a time" and newest["way"] == "rollback", newest)
    log = site.admin("GET", "audits", action="rules")["actions"]
    checks.check("the audit log has it with its reason", log[0]["action"] == "rules.rollback" and log[0]["detail"]["body"]["reason"] == "one at a time", log[0])


def indexes_are_listed(site, checks):
    before = held(site)
    hold(site, '{"rules": {"users": {".indexOn": ["level"]}}}')
    tab = site.open("settings?tab=indexes")
    row = "[...document.querySelectorAll('main tbody tr')].map((row) => row.innerText.replace(/\\s+/g, ' ')).join(' | ')"
    checks.check("what the rules index is listed, and comes to its end by itself", tab.until(lambda: re.search(r"/users level ● ready \d", tab.value(row))),
                 tab.value(row))
    hold(site, before)
    tab.reload()
    checks.check("without an index it says how to get one", tab.shows('".indexOn" in the rules declares one'), tab.text[-300:])


def walks_to(tab, name, most=60):
    for _ in range(most):
        tab.key("Tab")
        if re.search(name, tab.focused or ""):
            return True
    return False


def by_keyboard_alone(site, checks):
    hold(site, RULES)
    tab = site.open("rules")
    tab.value("document.getElementById('main').focus()")
    checks.check("Tab leads to the editor", walks_to(tab, "^The rules$"), tab.focused)
    tab.value("document.activeElement.setSelectionRange(0, 0)")
    tab.key("Tab")
    checks.check("in it Tab indents", tab.value(TEXT).startswith("  {") and tab.focused == "The rules", tab.value(TEXT)[:20])
    tab.key("Tab", "shift")
    checks.check("and Shift+Tab takes it back", tab.value(TEXT) == RULES, tab.value(TEXT)[:20])
    checks.check("the brackets belong together", tab.until(lambda: sorted(tab.value(LIT.format("pair"))) == ["{", "}"]), tab.value(LIT.format("pair")))
    words = lambda: tab.value(LIT.format("word")) + tab.value(LIT.format("key")) + tab.value(LIT.format("call"))
    checks.check("the words of rules have their colours", tab.until(lambda: {"auth", "newData", "$uid", '".validate"', ".val"} <= set(words())), words())
    tab.value(f"(() => {{ const f = document.activeElement; const at = f.value.indexOf('\"users\"') + 19; f.setSelectionRange(at, at) }})()")
    at = tab.value("document.activeElement.selectionStart")
    tab.key("Enter")
    checks.check("Enter keeps the indentation", tab.value(f"{TEXT}.slice({at})").startswith("\n    "), tab.value(f"{TEXT}.slice({at}, {at + 12})"))
    tab.key("Escape")
    tab.key("Tab")
    checks.check("after Escape Tab leaves", tab.focused != "The rules" and tab.until(lambda: tab.focused), tab.focused)
    checks.check("what was typed can be discarded", walks_to(tab, "^Discard changes$"))
    tab.key("Enter")
    checks.check("and is", tab.until(lambda: tab.value(TEXT) == RULES), tab.value(TEXT))
    site.go(tab, "rules?tab=try")
    tab.value("document.getElementById('main').focus()")
    checks.check("the form is reached", walks_to(tab, "^Operation$"))
    tab.type("set")
    for name, text in (("^Path$", "/users/bob/level"), ("^Value", "7")):
        walks_to(tab, name)
        tab.type(text)
    walks_to(tab, "^As$")
    tab.type("a")
    walks_to(tab, "^A player")
    tab.type("bob")
    tab.key("Enter")
    checks.check("a trial is made and read by keyboard alone", tab.shows("DENIED") and tab.shows("newData.val() = 7"), tab.text[-500:])
    checks.check("and added as a test", walks_to(tab, "^Add as a test$"))
    tab.key("Enter")
    checks.check("which runs", tab.shows("1/1"), tab.text[-500:])


def hostile_texts_stay_texts(site, checks):
    evil = '<img src=x onerror="window.pwned=1"></textarea></pre><script>window.pwned=1</script>'
    source = '{\n  // ' + evil + ' \u202e hidden\n  "rules": {"__proto__": {".read": "auth.uid === \'' + evil.replace('"', '\\"') + '\'"}, "$a": {".validate": true}}\n}\n'
    hold(site, source, evil)
    hold(site, RULES, "\u202ereversed")
    hold(site, source, evil)
    tab = site.tab()
    state = ("({pwned: window.pwned, polluted: ({}).read, made: document.querySelectorAll('main :is(img, script, iframe, [onerror])').length})")
    for page in ("rules", "rules?tab=history", "rules?tab=history&rev=" + site.admin("GET", "rules/history")["versions"][0]["hash"],
                 "rules?tab=try&op=read&path=/__proto__&auth=" + '{"uid":"<img src=x>"}', "rules?tab=try&op=set&path=/<b>&value={&as=x",
                 "rules?tab=history&rev=<img src=x>", "rules?tab=tests"):
        site.go(tab, page.replace("#", "%23"))
        checks.check(f"nothing is done by {page[:40]}", tab.value(state) == {"made": 0}, tab.value(state), quiet=True)
        checks.check(f"{page[:40]} shows no direction mark beside the text itself", "\u202e" not in tab.value(
            "(() => { const copy = document.querySelector('main').cloneNode(true); copy.querySelectorAll('.code-box').forEach((e) => e.remove()); "
            "return copy.textContent })()"), tab.text[-300:], quiet=True)
    site.go(tab, "rules")
    checks.check("the text is shown as it is", tab.until(lambda: tab.value(TEXT) == source), tab.value(TEXT)[:300])
    checks.check("what cannot be seen in it is named, with its place", tab.shows("A character that is not seen: U+202E") and "\u202e" in tab.value(LIT.format("unseen")), tab.text[-400:])
    tests = {"cases": [{"name": evil, "as": None, "read": "/", "expect": "allowed"}]}
    site.go(tab, "rules?tab=tests")
    tab.fill("The tests", json.dumps(tests), "textbox")
    tab.click("Run", "button")
    checks.check("names of cases are texts", tab.shows("<img src=x onerror") and tab.value(state) == {"made": 0}, tab.text[-300:])


def a_large_text(site, checks):
    many = ",\n".join(f'  "k{number:05}": {{".read": "auth.uid === \'{number:020}\'"}}' for number in range(16_000))
    source = "{\"rules\": {\n" + many + "\n}}\n"
    hold(site, source)
    tab = site.open("rules")
    checks.check("a text of 1 MB is opened", tab.until(lambda: tab.value(f"{TEXT}.length") == len(source)) and tab.shows("16,000 rules"), tab.text[:300])
    checks.check("with few elements", tab.value("document.querySelectorAll('main *').length") < 400, tab.value("document.querySelectorAll('main *').length"))
    tab.value("(() => { const f = document.querySelector('.code-input'); const at = f.value.lastIndexOf('auth'); f.setRangeText('oh', at, at); "
              "f.dispatchEvent(new Event('input', {bubbles: true})) })()")
    # Not by its name: of so long a text the tree of names is made for half a minute.
    checks.check("a fault at its end is found", tab.until("document.querySelector('.faults button')?.innerText.startsWith('Line 16001, column 24')"), tab.text[-300:])
    tab.value("document.querySelector('.faults button').click()")
    checks.check("and comes into sight", tab.until("document.querySelector('.code-box').scrollTop > 100000"), tab.value("document.querySelector('.code-box').scrollTop"))
    tab.value("document.querySelector('.code-input').value = ''")


CHECKS = [a_page_without_rules, a_trial_is_explained_and_becomes_a_test, a_test_says_which_data_it_lacks, as_an_account,
          faults_are_marked_and_not_saved, others_are_not_overwritten,
          versions_are_compared_and_put_back, indexes_are_listed, by_keyboard_alone, hostile_texts_stay_texts, a_large_text]
