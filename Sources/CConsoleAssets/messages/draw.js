// Draws messages in a page: four layouts, by keyboard, screen reader and large text, in colours that can be read.

const LABELS = { de: "Schließen", en: "Close", es: "Cerrar", fa: "بستن", fr: "Fermer", ja: "閉じる", pl: "Zamknij" };
let css;
const isWeb = (url) => /^https?:\/\//i.test(url ?? ""), make = (tag, more) => Object.assign(document.createElement(tag), more);

const light = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
  .reduce((sum, v, at) => sum + (v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4) * [.2126, .7152, .0722][at], 0);
const contrast = (a, b) => (Math.max(light(a), light(b)) + .05) / (Math.min(light(a), light(b)) + .05);
const color = (hex) => /^#[0-9a-f]{6}$/i.test(hex ?? "") ? hex : undefined;
/** The colour of a text where it can be read (4.5:1), else black or white. */
export const readable = (text, ground) =>
  text && contrast(text, ground) >= 4.5 ? text : contrast("#000000", ground) >= contrast("#ffffff", ground) ? "#000000" : "#ffffff";


/** Draws a message into the page: `act(role, url, event)` when it is followed, `close(type)` when it is closed. Returns how it goes. */
export async function draw(kind, content, about, act, close) {
  css ??= fetch(new URL("style.css", import.meta.url)).then((answer) => answer.text());
  const sheet = await new CSSStyleSheet().replace(await css);
  const host = make("div"), root = host.attachShadow({ mode: "open" }), isBanner = kind === "banner";
  root.adoptedStyleSheets = [sheet];
  const box = make(isBanner ? "section" : "dialog", { className: kind, dir: about.direction ?? "auto", lang: about.language ?? "" });
  const ink = color(content.title?.hexColor);
  const ground = color(content.backgroundHexColor) ?? (!ink && matchMedia("(prefers-color-scheme: dark)").matches ? "#1c1c21" : "#ffffff");
  const paint = (element, colors) => Object.entries(colors).forEach(([name, value]) => element.style.setProperty(name, value));
  paint(box, { "--ground": ground, "--text": readable(ink, ground), "color-scheme": light(ground) < .18 ? "dark" : "light" });
  const follow = (textContent, action, role, className) => {
    const url = action?.actionUrl, link = make(isWeb(url) ? "a" : "button", { textContent, className, ...isWeb(url) && { href: url, rel: "noopener" } });
    link.addEventListener("click", (event) => url ? act(role, url, event) : close("CLICK"));
    return link;
  };
  const frame = make("div", { className: "frame" }), text = make("div", { className: "text" }), { picture } = about;
  const title = content.title && make("h2", { textContent: content.title.text, id: "title" });
  const body = content.body?.text && make("p", { textContent: content.body.text, id: "body" });
  const whole = (isBanner || kind === "imageOnly") && content.action?.actionUrl && follow(isBanner ? content.title.text : "", content.action, "message", "whole");
  if (whole && isBanner) title.replaceChildren(whole);
  text.append(...[title, body].filter(Boolean));
  if (picture) {
    picture.alt = about.imageAlt ?? "";
    if (whole && !isBanner) whole.append(picture), text.append(whole);
    else (isBanner ? frame : text).append(picture);
  }
  frame.append(text);
  const first = content.primaryActionButton ?? content.actionButton;
  const buttons = [[first, content.primaryAction ?? content.action, "primary"], [content.secondaryActionButton, content.secondaryAction, "secondary"]]
    .filter(([button]) => button?.text?.text).map(([button, action, role]) => {
      const fill = color(button.buttonHexColor) ?? color(first?.buttonHexColor) ?? "#000000", one = follow(button.text.text, action, role, role);
      paint(one, { "--fill": fill, "--on": readable(color(button.text.hexColor) ?? "#ffffff", fill) });
      return one;
    });
  const row = make("div", { className: "buttons" }), x = make("button", { className: "close", textContent: "×", ariaLabel: LABELS[about.language?.slice(0, 2)] ?? LABELS.en });
  row.append(...buttons);
  x.addEventListener("click", () => close("CLICK"));
  frame.append(...buttons.length ? [row] : [], x);
  root.append(box);
  document.body.append(host);
  (isBanner ? showBanner : showDialog)(root, box, { frame, text, title, body }, about, close);
  return { box, remove: () => { if (!isBanner) box.close(); host.remove(); } };
}

/** The picture of a message, or an error after ten seconds; undefined where there is none. */
export async function load(content) {
  const upright = content.portraitImageUrl ?? content.imageUrl, wide = content.landscapeImageUrl;
  const url = wide && matchMedia("(orientation: landscape)").matches ? wide : upright;
  if (!url) return undefined;
  if (!/^https:/i.test(url)) throw new Error("a picture needs https");
  const picture = make("img", { referrerPolicy: "no-referrer", src: url });
  await Promise.race([picture.decode(), new Promise((_, fail) => setTimeout(() => fail(new Error("a picture took ten seconds")), 1e4))]);
  return picture;
}

function showBanner(root, box, { frame }, about, close) {
  box.setAttribute("role", "status");
  // A live region says what comes into it afterwards.
  setTimeout(() => box.append(frame), 50);
  let from;
  box.addEventListener("pointerdown", (event) => { from = event.clientY; });
  box.addEventListener("pointerup", (event) => { if (from - event.clientY > 30) close("SWIPE"); });
}

function showDialog(root, box, { frame, text, title, body }, about, close) {
  if (title) box.setAttribute("aria-labelledby", "title");
  else box.ariaLabel = about.imageAlt ?? "";
  if (body) box.setAttribute("aria-describedby", "body");
  box.tabIndex = -1;
  box.append(frame);
  box.showModal();
  // Not a button at once: who plays by keys must not follow a message by accident.
  box.focus();
  // What must be scrolled can be scrolled by keys.
  new ResizeObserver(() => text[text.scrollHeight > text.clientHeight ? "setAttribute" : "removeAttribute"]("tabindex", "0")).observe(text);
  box.addEventListener("cancel", (event) => { event.preventDefault(); close("CLICK"); });
  box.addEventListener("click", (event) => { if (event.target === box && about.dismissOutside !== false) close("CLICK"); });
  box.addEventListener("keydown", (event) => {
    const all = [...box.querySelectorAll("a, button, [tabindex='0']")], at = all.indexOf(root.activeElement);
    if (event.key !== "Tab" || (event.shiftKey ? at > 0 : at < all.length - 1)) return;
    event.preventDefault();
    all.at(event.shiftKey ? -1 : 0).focus();
  });
}
