"""Messages in the console beside the campaigns: devices that fetch them, events that wait for a player, settings."""

import json
import time

from console import is_ready
from console_looks import axe, judged
from console_messages import DEVICE, campaign, fetches
from serving import until

ROWS = "[...document.querySelectorAll('main tbody tr')].map((row) => row.innerText.replace(/\\s+/g, ' '))"
LISTS = ("devices", "events", "settings")


def of(tab, player):
    """Looks for what is a player's."""
    tab.fill("Player", player)
    tab.click("Show", "button")
    return tab.until(f"new URLSearchParams(location.search).get('uid') === '{player}'") and is_ready(tab)


def events_wait_for_their_player(site, checks):
    site.admin("POST", "messages", campaign(id="earned"))
    site.admin("POST", "messages/earned/publish", {"reason": "a check"})
    site.write("users/bob", {"name": "Bob", "referred_by": "alice", "level": 4})
    site.write("users/bob/level", 5)
    tab = site.open("messages")
    tab.click("Events", "tab")
    checks.check("the list of events says what it shows", tab.shows("waits for a message"), tab.text[-300:])
    of(tab, "nobody")
    checks.check("of somebody without events it says so", tab.shows("No event waits"), tab.text[-300:])
    of(tab, "alice")
    waits = lambda: [row for row in tab.value(ROWS) if "reward" in row and "waiting" in row]
    checks.check("alice's reward waits", tab.until(waits), tab.text[-400:])
    checks.check("with its values", tab.until("[...document.querySelectorAll('main tbody details')].some((e) => { e.open = true; return e.innerText.includes('50') })"),
                 tab.text[-400:])
    checks.check("and the address says whose they are", "tab=events" in tab.address and "uid=alice" in tab.address, tab.address)


def devices_are_found_and_forgotten(site, checks):
    fetches(site)
    tab = site.open("messages?tab=devices")
    shown = lambda: [row for row in tab.value(ROWS) if DEVICE in row]
    checks.check("a device that fetched is listed, with its player", tab.until(lambda: shown() and "web" in shown()[0] and "alice" in shown()[0]), tab.value(ROWS))
    of(tab, "nobody")
    checks.check("of somebody else there is none", tab.until(lambda: not shown()) and tab.shows("No app has fetched"), tab.text[-300:])
    of(tab, "alice")
    tab.until(shown)
    tab.click("Forget…", "button")
    tab.click("Forget the device", "button")
    checks.check("without a reason nothing is forgotten", tab.shows("A reason is needed") and len(site.admin("GET", "messages/devices")["devices"]) == 1)
    tab.fill("Reason, for the record", "a check")
    tab.click("Forget the device", "button")
    checks.check("with one it is", until(lambda: site.admin("GET", "messages/devices")["devices"] == []) and tab.until(lambda: not shown()), tab.value(ROWS))
    fetches(site)


def settings_are_those_of_the_server(site, checks):
    told = site.admin("GET", "messages/settings")
    tab = site.open("messages?tab=settings")
    shown = lambda: dict(tab.value("[...document.querySelectorAll('main .facts > div')].map((e) => [...e.children].map((part) => part.innerText))"))
    wanted = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in told.items() if not isinstance(value, list)}
    checks.check("every setting is shown", len(wanted) > 5 and tab.until(lambda: wanted.items() <= shown().items()), (wanted, tab.text[-500:]))


def results_tell_conversions(site, checks):
    line = {"client_app": {"google_app_id": "1:77:web:ab", "firebase_instance_id": DEVICE}, "campaign_id": "earned",
            "client_timestamp_millis": int(time.time() * 1000), "event_type": "IMPRESSION_EVENT_TYPE", "doubloon_key": "a"}
    told = site.ask("POST", "/v1/messages/log?format=json_proto&key=k", {
        "client_info": {"client_type": 15}, "log_source": "FIREBASE_INAPPMESSAGING", "request_time_ms": line["client_timestamp_millis"],
        "log_event": [{"event_time_ms": line["client_timestamp_millis"], "source_extension_json": json.dumps(line)}]}, {"Authorization": ""})
    rates = lambda: site.admin("GET", "messages/earned/stats")["rates"]
    checks.check("an impression is counted", until(lambda: [one["impressions"] for one in rates()] == [1]), (told.text, rates()))
    tab = site.open("messages/show?id=earned")
    checks.check("its conversions stand beside its clicks", tab.until(
        "[...document.querySelectorAll('main table')].some((e) => ['Clicks', 'Conversions'].every((name) => [...e.tHead.rows[0].cells].some((cell) => cell.innerText.trim() === name)))"),
        tab.text[-600:])


def lists_have_no_violations(site, checks):
    source = axe()
    tab = site.tab()
    for name in LISTS:
        site.go(tab, f"messages?tab={name}&uid=alice" if name == "events" else f"messages?tab={name}")
        for scheme, size in (("light", (1280, 800)), ("dark", (320, 700))):
            tab.emulate(scheme, size, True)
            found = judged(tab, source)
            checks.check(f"axe finds nothing on {name}, {scheme}, {size[0]} wide", not found, "\n        ".join(found))
            checks.check(f"{name} is not wider than {size[0]}", tab.value("document.documentElement.scrollWidth <= innerWidth"), quiet=True)


CHECKS = [events_wait_for_their_player, devices_are_found_and_forgotten, settings_are_those_of_the_server, results_tell_conversions, lists_have_no_violations]
