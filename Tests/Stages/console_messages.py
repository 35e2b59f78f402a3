"""Messages in the console: a campaign composed with its preview, published, explained, tried on a device, counted and stopped."""

import base64
import html.parser
import json
import re

from console import is_ready
from console_looks import axe, judged

DEVICE = "cRk2uGm0TQeV7bq5zXhL9A"
HOSTILE = '<img src=x onerror=alert(1)>"\'`${7*7}</script>'
TEXTS = {"title": "You earned {{amount}}!", "body": "By {{invitee|a friend}}.\nThank you."}
SHAPES = {
    "modal": {"image": "https://cdn.acme.test/m.png"}, "banner": {"image": "https://cdn.acme.test/b.png", "action": "https://acme.test/"},
    "card": {"portraitImage": "https://cdn.acme.test/p.png", "landscapeImage": "https://cdn.acme.test/l.png",
             "primaryAction": "https://acme.test/more", "secondaryAction": None},
    "imageOnly": {"image": "https://cdn.acme.test/i.png", "imageAlt": {"en": "A chest"}},
}


def campaign(layout="modal", name="You earned", texts=TEXTS, **more):
    content = {"defaultLanguage": "en", **SHAPES[layout]}
    if layout != "imageOnly":
        content["texts"] = {"en": {**texts, **({"primary": "More", "secondary": "Later"} if layout == "card" else {})}}
    return {"name": name, "layout": layout, "content": content, "triggers": [{"server": "reward", "where": {"amount": {">=": 50}}}], **more}


def fetches(site, uid="alice", language="en"):
    """What a player's app asks for; its answer."""
    player = base64.urlsafe_b64encode(json.dumps({"sub": uid}).encode()).decode().rstrip("=")
    return site.ask("POST", "/v1/sdkServing/projects/77/eligibleCampaigns:fetch", {
        "requesting_client_app": {"gmp_app_id": "1:77:web:ab", "app_instance_id": DEVICE}, "client_signals": {"language_code": language}},
        {"Authorization": f"Bearer eyJhbGciOiJub25lIn0.{player}.", "X-Doubloon-Client": "web/1"})


def choose(tab, label, value):
    """Another choice of a list, as by a person."""
    done = tab.until(f"""(() => {{
      const label = [...document.querySelectorAll('label')].find((e) => e.innerText.trim() === {json.dumps(label)} && e.checkVisibility());
      const list = label && document.getElementById(label.htmlFor);
      if (!list) return false;
      list.value = {json.dumps(value)};
      for (const type of ['input', 'change']) list.dispatchEvent(new Event(type, {{ bubbles: true }}));
      return list.value === {json.dumps(value)};
    }})()""")
    if not done:
        raise RuntimeError(f"there is no choice {value} of {label}: {tab.text[:300]}")


def a_campaign_is_composed(site, checks):
    tab = site.open("messages")
    checks.check("without campaigns the list says what one is", tab.shows("No campaign yet"), tab.text[:300])
    tab.click("New campaign", "button")
    checks.check("the form opens", tab.until("location.pathname.endsWith('/messages/new')") and is_ready(tab), tab.address)
    checks.check("and says what is missing, with its place", tab.shows("content.texts.en.title"), tab.text[-500:])
    for name, text in (("Name", "Summer"), ("Id", "summer"), ("Title", "You earned {{amount}}!"), ("Text", "Invite more."),
                       ("First button", "Invite"), ("opens", "https://acme.test/invite")):
        tab.fill(name, text)
    checks.check("a value that is not given is named", tab.shows("withheld without the values amount"), tab.text[-400:])
    tab.fill("Values of the event", '{"amount": 1250}')
    drawn = "document.querySelector('.is-message')?.innerText ?? ''"
    checks.check("the preview has the texts, with the event's values", tab.until(f"({drawn}).includes('You earned 1,250!')")
                 and "Invite" in tab.value(drawn), tab.value(drawn))
    choose(tab, "Layout", "card")
    checks.check("a card without a picture is refused, in words", tab.shows("CARD_WITHOUT_IMAGE"), tab.text[-400:])
    choose(tab, "Layout", "modal")
    checks.check("as a modal it is drawn again", tab.until("document.querySelector('[data-layout=modal]') !== null"), tab.text[-300:])
    checks.check("nothing is kept by looking", site.admin("GET", "messages")["campaigns"] == [])
    tab.click("Create draft", "button")
    checks.check("its page opens", tab.until("location.pathname.endsWith('/messages/show')") and is_ready(tab), tab.address)
    one = site.admin("GET", "messages/summer")
    checks.check("the draft says what was typed", one["state"] == "draft" and one["content"]["texts"]["en"]["title"] == "You earned {{amount}}!"
                 and one["content"]["primaryAction"] == "https://acme.test/invite" and one["triggers"] == [{"server": "reward"}], one)
    tab.click("Edit…", "button")
    checks.check("it can be edited", tab.until("location.pathname.endsWith('/messages/edit')") and is_ready(tab), tab.address)
    tab.fill("Title", "")
    checks.check("a title taken away is told of", tab.shows("A message needs a title"), tab.text[-400:])
    site.provoke("network: .* 400 ")
    tab.click("Save", "button")
    checks.check("and refused with all places", tab.until("!!document.querySelector('form [role=alert] .note.bad')"), tab.text[-500:])
    tab.fill("Title", "You won {{amount}}!")
    tab.click("Save", "button")
    checks.check("mended it is saved, as version 2", tab.until("location.pathname.endsWith('/messages/show')") and is_ready(tab)
                 and site.admin("GET", "messages/summer")["version"] == 2, tab.address)


def it_is_published_shown_and_stopped(site, checks):
    site.admin("POST", "messages", campaign(id="earned"))
    tab = site.open("messages/show?id=earned")
    tab.click("Publish…", "button")
    checks.check("the dialog says to whom", tab.shows("For everybody") and tab.shows("reward"), tab.text[-500:])
    tab.click("Publish earned", "button")
    checks.check("without a reason nothing is published", tab.shows("A reason is needed") and site.admin("GET", "messages/earned")["state"] == "draft")
    tab.fill("Reason, for the record", "a check")
    tab.click("Publish earned", "button")
    checks.check("then it is published", tab.until(lambda: site.admin("GET", "messages/earned")["state"] == "published") and tab.shows("published"), tab.text[:300])
    checks.check("the reason is in the audit log", tab.until(lambda: any(
        row["action"] == "messages.publish" and "a check" in json.dumps(row["detail"]) for row in site.admin("GET", "audits", limit=20)["actions"])))
    site.write("users/bob", {"name": "Bob", "referred_by": "alice", "level": 4})
    site.write("users/bob/level", 5)
    told = fetches(site)
    checks.check("alice's app is told of the reward", "You earned 50!" in told.text, told.text[:600])
    tab.reload()
    is_ready(tab)
    tab.fill("Name", "alice")
    tab.click("Explain", "button")
    checks.check("explain says that the next fetch brings it", tab.shows("The next fetch brings it"), tab.text[-900:])
    tab.fill("Name", "nobody")
    tab.click("Explain", "button")
    checks.check("and why somebody else does not get it", tab.shows("It is not shown"), tab.text[-900:])
    tab.click("Show it there", "button")
    checks.check("a test is ordered", tab.shows("It appears there once") and "isTestCampaign\":true" in fetches(site).text.replace(" ", ""), tab.text[-300:])
    checks.check("what was served is counted", tab.reload() or is_ready(tab) and tab.shows("served"), tab.text[-600:])
    tab.click("Stop…", "button")
    tab.fill("Reason, for the record", "the end")
    tab.click("Stop earned", "button")
    checks.check("stopped it stays stopped", tab.until(lambda: site.admin("GET", "messages/earned")["state"] == "stopped")
                 and tab.until(lambda: not tab.named("Stop…", "button") and tab.named("Duplicate…", "button")) and is_ready(tab), tab.text[:300])
    tab.click("Duplicate…", "button")
    tab.fill("Id of the copy", "earned-b")
    tab.click("Duplicate", "button")
    checks.check("a duplicate is a draft", tab.until("location.search.includes('earned-b')") and is_ready(tab)
                 and site.admin("GET", "messages/earned-b")["state"] == "draft", tab.address)


def four_layouts_on_four_screens(site, checks):
    tab = site.tab()
    for layout in SHAPES:
        site.admin("POST", "messages", campaign(layout, layout, id=layout))
        site.go(tab, f"messages/show?id={layout}")
        box = f"document.querySelector('[data-layout={layout}]')"
        checks.check(f"{layout} is drawn with its picture named", tab.until(f"!!{box}?.innerText.includes('https://cdn.acme.test/')"), tab.text[-300:])
        for size, width in (("320 568", 320), ("844 390", 844), ("768 1024", 768)):
            choose(tab, "Screen", size)
            fits = tab.until(f"(() => {{ const phone = document.querySelector('.is-message'); const box = {box}; return phone.style.width === '{width}px' "
                             f"&& box.getBoundingClientRect().right <= phone.getBoundingClientRect().right + 1 }})()")
            checks.check(f"{layout} fits a screen {width} wide", fits, quiet=True)
        if layout == "card":
            choose(tab, "Screen", "844 390")
            checks.check("on its side a card has the lying picture", tab.until(f"{box}.innerText.includes('l.png')"), tab.value(f"{box}.innerText"))
        checks.check(f"no picture is loaded for {layout}", tab.value("document.images.length") == 0)


def hostile_texts_stay_texts(site, checks):
    texts = {"title": HOSTILE, "body": HOSTILE}
    site.admin("POST", "messages", campaign("banner", HOSTILE[:60], texts, id="hostile", data={HOSTILE[:40]: HOSTILE}))
    tab = site.tab()
    for page in ("messages?q=onerror", "messages/show?id=hostile", "messages/edit?id=hostile"):
        site.go(tab, page)
        checks.check(f"{page} shows it literally", "<img src=x onerror" in tab.value(
            "document.querySelector('main').innerText + [...document.querySelectorAll('main :is(input, textarea)')].map((e) => e.value).join(' ')")
            and tab.value("document.querySelectorAll('main :is(img, script, iframe, [onerror])').length") == 0, tab.text[:300])
    site.provoke("network: .* 404 ")
    tab.open(site.address("messages/show?id=nothing"))
    checks.check("a campaign that is not there is said to be not there", tab.shows("There is no campaign nothing"), tab.text[:300])


def pages_have_no_violations(site, checks):
    source = axe()
    tab = site.tab()
    for page in ("messages", "messages/new", "messages/show?id=card", "messages/edit?id=modal"):
        site.go(tab, page)
        for scheme, size in (("light", (1280, 800)), ("dark", (320, 700))):
            tab.emulate(scheme, size, True)
            found = judged(tab, source)
            checks.check(f"axe finds nothing on {page}, {scheme}, {size[0]} wide", not found, "\n        ".join(found))
            checks.check(f"{page} is not wider than {size[0]}", tab.value("document.documentElement.scrollWidth <= innerWidth"), quiet=True)


COLORS = {"text": "#14213d", "background": "#fff4d6", "button": "#14213d", "primaryText": "#fdfdfd", "secondaryText": "#7a2020"}
# What the console draws of a message, in the words of `Page.drawn`.
DRAWN = """(() => {
  const box = document.querySelector('[data-layout]'), texts = box.querySelector('b')?.parentElement;
  const hex = (name, element) => { const parts = getComputedStyle(element)[name].match(/^rgb\\((\\d+), (\\d+), (\\d+)\\)$/);
    return parts && '#' + parts.slice(1).map((one) => (+one).toString(16).padStart(2, '0')).join(''); };
  return { layout: box.dataset.layout, lang: box.lang, dir: box.dir, title: texts?.querySelector('b')?.textContent ?? null, body: texts?.querySelector('span')?.textContent ?? null,
    pictures: [...box.querySelectorAll('[role=img]:not([data-part])')].map((e) => [e.textContent, e.getAttribute('aria-label')]),
    buttons: [...box.querySelectorAll('[data-part]')].map((e) => e.dataset.part === 'close' ? ['close', '\u00d7', null, null]
      : [e.dataset.part, e.textContent, hex('color', e), hex('backgroundColor', e)]).sort(),
    colors: box.dataset.layout === 'imageOnly' ? null : [hex('color', box), hex('backgroundColor', box)] };
})()"""


class Page(html.parser.HTMLParser):
    """The page of a preview, which stands alone: what it says, by its own text. A class names a button's role."""

    def __init__(self, text):
        super().__init__()
        self._style, self._open = "", []
        self.drawn = {"layout": None, "lang": None, "dir": None, "title": None, "body": None, "pictures": [], "buttons": [], "colors": None}
        self.feed(text)
        tone = dict(re.findall(r"--(\w+):(#\w{6});", "".join(re.findall(r"main\{((?:--\w+:#\w{6};)+)\}", self._style))))
        own = {role: (ink or None, paper or None) for role, ink, paper in re.findall(
            r"\.(primary|secondary)\{(?:color:(#\w{6});)?(?:background:(#\w{6});)?\}", self._style)}
        self.drawn["buttons"] = sorted([[role, text, *own.get(role, (None, None))] for role, text in self.drawn["buttons"]], key=str)
        if self.drawn["layout"] != "imageOnly":
            self.drawn["colors"] = [tone.get("text"), tone.get("background")]

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "html":
            self.drawn.update(lang=given["lang"], dir=given["dir"])
        elif tag == "main":
            self.drawn["layout"] = given["class"]
        elif tag == "img":
            self.drawn["pictures"].append([given["src"], given["alt"]])
        elif tag in ("a", "button"):
            self.drawn["buttons"].append((given["class"], ""))
        self._open.append(tag)

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, text):
        tag = self._open[-1] if self._open else None
        if tag == "style":
            self._style += text
        elif tag in ("h1", "p"):
            name = "title" if tag == "h1" else "body"
            self.drawn[name] = (self.drawn[name] or "") + text
        elif tag in ("a", "button"):
            role, before = self.drawn["buttons"].pop()
            self.drawn["buttons"].append((role, before + text))


def both_previews_say_the_same(site, checks):
    """The page that `messages preview --to` writes, and what the console draws: the same texts, pictures, buttons and colours."""
    tab = site.tab()
    for layout in SHAPES:
        document = campaign(layout, layout, id=f"same-{layout}")
        content = document["content"]
        content.update({"imageAlt": {"en": "A chest", "fa": "\u0635\u0646\u062f\u0648\u0642"}, **({} if layout == "imageOnly" else {"colors": COLORS})})
        if layout == "modal":
            content["texts"]["en"]["primary"], content["primaryAction"] = "Invite more", "https://acme.test/invite"
            content["texts"]["fa"] = {"title": "{{amount}} \u0633\u06a9\u0647!", "primary": "\u062f\u0639\u0648\u062a"}
        site.admin("POST", "messages", document)
        site.go(tab, f"messages/show?id=same-{layout}")
        tab.fill("Values of the event", '{"amount": 1250}')
        for language in ("en", "fa") if layout == "modal" else ("en",):
            tab.fill("Language", language)
            for width, height in ((390, 844), (844, 390)):
                choose(tab, "Screen", f"{width} {height}")
                page = Page(site.admin("POST", f"messages/same-{layout}/preview", {
                    "locale": language, "width": width, "params": {"amount": 1250}})["html"]).drawn
                same = tab.until(lambda: tab.value(f"document.querySelector('[data-layout={layout}]') !== null") and tab.value(DRAWN) == page)
                checks.check(f"page and console draw the same {layout} in {language}, {width} wide", same, (page, tab.value(DRAWN)))
    checks.check("that is texts, pictures, buttons and colours", page["pictures"] and page["buttons"], page, quiet=True)


CHECKS = [a_campaign_is_composed, it_is_published_shown_and_stopped, four_layouts_on_four_screens, both_previews_say_the_same, hostile_texts_stay_texts,
          pages_have_no_violations]
