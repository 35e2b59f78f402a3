"""Links in the console: made by its form, looked at as three devices, read from paper, opened, and followed to the coins."""

import os
import urllib.parse

from console import is_ready
from links_stage import IPHONE, SETTINGS as LINK_SETTINGS, Tags, decode, token

HOST = "go.acme.test"
# What strangers may write into a link.
HOSTILE = '<img src=x onerror=alert(1)>"\'`${7*7}\u202e</script>'


def set_up(site):
    answer = site.ask("PUT", "/admin/v1/links/settings", LINK_SETTINGS)
    assert answer.status == 200, answer.text


def opened(site, link, agent=IPHONE):
    return site.ask("GET", link.split(HOST, 1)[1], headers={"Host": HOST, "User-Agent": agent})


def stage(tab, name):
    return tab.value(f"document.querySelector('[data-stage={name}]')?.innerText ?? ''").split("\n")[-1].strip()


def a_link_is_made_and_followed_to_the_coins(site, checks):
    set_up(site)
    site.write("users/alice", {"name": "Alice"})
    tab = site.open("links")
    checks.check("without links the list says how to get one", tab.shows("No short link yet"), tab.text[:400])
    tab.click("New link", "button")
    checks.check("the form opens", tab.until("location.pathname.endsWith('/links/new')") and is_ready(tab), tab.address)
    checks.check("a destination is missing, and Create is closed", tab.shows("Link parameter is missing")
                 and tab.until("document.querySelector('form.stack button[type=submit]')?.disabled"), tab.text[-400:])
    tab.click("6 Campaign")
    for name, text in (("2 Goes to", "https://acme.test/invite?by=alice"), ("Campaign", "harbour"), ("Title", "Come & find it"),
                       ("Smallest version code", "abc"), ("8 Inviter", "alice"), ("Name in listings", "Harbour poster")):
        tab.fill(name, text)
    checks.check("the preview shows the page of an iPhone, with its title", tab.shows("its button copies the link")
                 and tab.until("document.querySelector('.phone')?.innerText.startsWith('Come & find it')"), tab.text[-900:])
    checks.check("and warns of a version that is no number", tab.shows("NOT_INTEGER_ANDROID_PACKAGE_MIN_VERSION"), tab.text[-900:])
    tab.fill("Smallest version code", "125")
    checks.check("which goes once it is mended", tab.shows("Nothing is doubtful"), tab.text[-600:])
    for device, says in (("Android", "Google Play opens with a referrer"), ("Desktop", "The browser goes to https://acme.test/invite?by=alice")):
        tab.click(device, "button")
        checks.check(f"{device}: {says}", tab.shows(says), tab.text[-600:])
    checks.check("nothing was created or counted by looking", site.admin("GET", "links")["links"] == [])
    tab.click("Create", "button")
    checks.check("the new link's page opens", tab.until("location.pathname.endsWith('/links/show')") and is_ready(tab), tab.address)
    link = site.admin("GET", "links", q="harbour")["links"][0]["shortLink"]
    checks.check("the list finds it by inviter and campaign", [len(site.admin("GET", "links", **one)["links"]) for one in (
        {"inviter": "alice"}, {"campaign": "harbour"}, {"inviter": "bob"})] == [1, 1, 0])
    path = os.path.join(site.folder, "page.png")
    checks.check("its code is drawn", tab.until("document.querySelector('img.qr')?.naturalWidth > 0"), tab.text[:300])
    tab.value("document.querySelector('img.qr').scrollIntoView({block: 'center'})")
    checks.check("zbar reads the address from the window", tab.until(lambda: tab.picture(path) or decode(path) == link), decode(path)[:80])
    follows(site, checks, tab, link)


def follows(site, checks, tab, link):
    copied = next(one["data-copy"] for one in Tags(opened(site, link).text).links if "data-copy" in one)
    again = lambda holds: tab.until(lambda: tab.reload() or is_ready(tab) and tab.until(holds, 2))
    checks.check("opened as an iPhone it has one click", again(lambda: (stage(tab, "clicks"), stage(tab, "claims")) == ("1", "0")), tab.text[:600])
    claim = site.ask("POST", "/v1/referrals:claim", {"link": copied}, {"Authorization": f"Bearer {token('bob')}"})
    checks.check("bob claims by what the page copied", claim.status == 200 and claim.json["referredBy"] == "alice", claim.text[:300])
    site.write("users/bob", {"level": 4, "last_signin_at": 1767225600000}, "PATCH")
    checks.check("then a sign-up, without level 5 and coins", again(
        lambda: [stage(tab, name) for name in ("claims", "signedUp", "reached")] == ["1", "1", "0"]), tab.text[:600])
    site.write("users/bob/level", 5)
    checks.check("then level 5 and 50 coins", again(lambda: stage(tab, "reached") == "1" and "+50" in stage(tab, "coins")), tab.text[:600])
    checks.check("which the stage is called after", tab.value("document.querySelector('[data-stage=reached] dt').innerText") == "level 5")
    before = site.admin("GET", "links/funnel", link=link)
    site.admin("POST", "replays", {"mode": "all", "reason": "a check"})
    site.admin("POST", "drain", {})
    checks.check("a replay of everything changes none of it", site.admin("GET", "links/funnel", link=link) == before)
    told = site.command("links", "funnel", link)
    checks.check("the command tells the same", "+50" in told or "50 pieces_of_eight" in told, told)


def a_link_is_changed_and_switched_off(site, checks):
    link = site.admin("GET", "links", q="harbour")["links"][0]["shortLink"]
    tab = site.open("links/edit?" + urllib.parse.urlencode({"link": link.replace("https://", "")}))
    checks.check("the form holds what the link says", tab.until("document.querySelector('form.stack input')?.value === 'https://acme.test/invite?by=alice'"))
    tab.fill("Title", "Another title")
    tab.fill("Description", "")
    tab.click("Save", "button")
    checks.check("saving leads to the link", tab.until("location.pathname.endsWith('/links/show')") and is_ready(tab), tab.address)
    row = site.admin("GET", "links/link", link=link)
    checks.check("only that changed", row["info"]["socialMetaTagInfo"] == {"socialTitle": "Another title"}
                 and row["info"]["link"] == "https://acme.test/invite?by=alice", row)
    tab.click("Switch off…", "button")
    tab.click(f"Switch off {link.replace('https://', '')}", "button")
    checks.check("off it opens nothing", tab.shows("off") and tab.until(lambda: opened(site, link).status == 404), opened(site, link).status)
    checks.check("and the preview says so", is_ready(tab) and tab.shows("disabled"), tab.text[-400:])


def hostile_texts_stay_texts(site, checks):
    set_up(site)
    made = site.admin("POST", "links", {"prefix": LINK_SETTINGS["domains"][0], "name": HOSTILE[:60], "option": "SHORT", "parameters": {
        "link": "https://acme.test/?x=" + urllib.parse.quote(HOSTILE), "st": HOSTILE, "sd": HOSTILE * 3, "si": "https://evil.test/x.png",
        "utm_campaign": HOSTILE, "ibi": "test.acme.ios"}})
    link = made["link"]["shortLink"].replace("https://", "")
    for page in ("links", "links/show?" + urllib.parse.urlencode({"link": link}), "links/edit?" + urllib.parse.urlencode({"link": link}),
                 "links?" + urllib.parse.urlencode({"campaign": HOSTILE}), "links?" + urllib.parse.urlencode({"q": "onerror"})):
        tab = site.open(page)
        checks.check(f"{page[:30]} shows it literally, and loads no picture of it", "<img src=x onerror" in tab.value(
            "document.querySelector('main').innerText + [...document.querySelectorAll('main input')].map((e) => e.value).join(' ')")
            and tab.value("[...document.images].every((e) => e.src.startsWith('blob:'))"), tab.text[:300])


def views_and_filters(site, checks):
    set_up(site)
    tab = site.open("links/settings")
    checks.check("settings say which apps are in the files for phones", tab.shows("TEAM12345A") and tab.shows("test.acme.app")
                 and tab.value("[...document.querySelectorAll('td')].filter((e) => e.innerText.includes('yes')).length") == 2, tab.text[:900])
    checks.check("and keep the keys of apps to themselves", "web-key-1" not in tab.text)
    tab = site.open("invites?state=failed&campaign=none")
    checks.check("invitations are filtered by what the address says", tab.shows("No invitation is like this"), tab.text[:400])
    tab.click("Clear filters", "link")
    checks.check("and all are shown without", tab.shows("No invitation yet"), tab.text[:400])
    tab = site.open("links?q=nothing-like-this", size=(320, 700))
    checks.check("a filter without a hit can be taken off, on a narrow phone too", tab.shows("No link is like this")
                 and tab.value("document.documentElement.scrollWidth") <= 320, tab.value("document.documentElement.scrollWidth"))
    site.go(tab, "links/new")
    checks.check("the form fits a phone", tab.value("document.documentElement.scrollWidth") <= 320, tab.value("document.documentElement.scrollWidth"))


CHECKS = [a_link_is_made_and_followed_to_the_coins, a_link_is_changed_and_switched_off, hostile_texts_stay_texts, views_and_filters]
