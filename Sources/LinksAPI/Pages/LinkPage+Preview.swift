import Links
import TextFormats

extension LinkPage {
  /// What the preview page shows.
  struct Preview: Sendable {
    /// The opening that is shown.
    let opening: LinkOpening
    /// Decides between the fallbacks of iPhones and iPads.
    let device: LinkVisitor.Device
    /// Proves this click.
    let click: String
    /// The code to type in if nothing else works; nil if the link has none.
    let code: String?
    /// What it says where the link says nothing.
    let phrases: LinkPhrases

    init(
      opening: LinkOpening, device: LinkVisitor.Device, click: String, code: String?, phrases: LinkPhrases = .english
    ) {
      self.opening = opening
      self.device = device
      self.click = click
      self.code = code
      self.phrases = phrases
    }
  }

  /// The page between a link and the store: it says what waits, keeps the place in the clipboard, and goes on.
  ///
  /// Everything works without JavaScript but the clipboard; then the code is the way. Without an image, or with one that does
  /// not load, the page has a band of colour in its place. Texts run in the direction of their own script.
  init(_ preview: Preview, settings: LinkSettings) {
    let (opening, parameters, phrases) = (preview.opening, preview.opening.parameters, preview.phrases)
    let app = Self.appName(opening, device: preview.device, settings: settings) ?? phrases.anApp
    let title = parameters[.socialTitle] ?? phrases.invitation.replacing("{{app}}", with: app)
    let words = parameters[.socialDescription] ?? phrases.words
    var body = "<main><div class=\"card\"><div class=\"hero\" aria-hidden=\"true\">"
    if let image = parameters.web(.socialImage) {
      body += "<img src=\"\(HTMLText.escaped(image.text))\" alt=\"\" referrerpolicy=\"no-referrer\">"
    }
    let target = opening.iosFallbackURL(on: preview.device)
    let letter = app.first.map { String($0).uppercased() } ?? "?"
    body += """
      </div>
      <div class="inside"><div class="app"><span class="icon" aria-hidden="true">\(HTMLText.escaped(letter))</span>\
      <span dir="auto">\(HTMLText.escaped(app))</span></div>
      <h1 dir="auto"\(title.count > Self.shortTitleMax ? " class=\"long\"" : "")>\(HTMLText.escaped(title))</h1>
      <p dir="auto" class="words">\(HTMLText.escaped(words))</p>
      <label id="box" hidden><input id="save" type="checkbox" checked><span>\(HTMLText.escaped(phrases.save))\
      <small>\(HTMLText.escaped(phrases.saveDetail))</small></span></label>
      <a class="button" id="go" rel="noreferrer" data-copy="\(HTMLText.escaped(opening.clipboardText(click: preview.click)))" \
      href="\(HTMLText.escaped(target))">\
      \(HTMLText.escaped(target.hasPrefix(StoreURL.appStore) ? phrases.get : phrases.goOn))</a>

      """
    if let url = opening.appURL(on: preview.device, click: preview.click) {
      body += "<a class=\"button second\" href=\"\(HTMLText.escaped(url))\">\(HTMLText.escaped(phrases.open))</a>\n"
    }
    if let code = preview.code {
      body += "<div class=\"code\">\(HTMLText.escaped(phrases.code))<b>\(HTMLText.escaped(Self.grouped(code)))</b></div>\n"
    }
    body += "</div></div></main>"
    self.init(
      title: title, language: phrases.language, head: Self.card(opening, title: title, words: words), body: body,
      script: Self.script)
  }

  /// A page for programs that show a card of the link: the same tags, nothing to click.
  init(cardOf opening: LinkOpening, settings: LinkSettings, phrases: LinkPhrases = .english) {
    let title = Self.title(of: opening, settings: settings, phrases: phrases)
    let words = opening.parameters[.socialDescription] ?? ""
    self.init(
      title: title, language: phrases.language, head: Self.card(opening, title: title, words: words),
      body: "<main><h1>\(HTMLText.escaped(title))</h1><p>\(HTMLText.escaped(words))</p></main>")
  }

  /// What cards are headed: the title that the link gives, or what the app is called.
  static func title(of opening: LinkOpening, settings: LinkSettings, phrases: LinkPhrases = .english) -> String {
    opening.parameters[.socialTitle] ?? appName(opening, device: .iphone, settings: settings) ?? phrases.anApp
  }

  private static func card(_ opening: LinkOpening, title: String, words: String) -> String {
    let image = opening.parameters.web(.socialImage)?.text
    let tags: [(attribute: String, name: String, value: String?)] = [
      ("property", "og:title", title), ("property", "og:description", words), ("property", "og:image", image),
      ("property", "og:url", opening.address), ("property", "og:type", "website"),
      ("name", "twitter:card", image == nil ? "summary" : "summary_large_image"), ("name", "twitter:title", title),
      ("name", "twitter:description", words), ("name", "twitter:image", image),
    ]
    return tags.compactMap { tag in
      guard let value = tag.value else { return nil }
      return "<meta \(tag.attribute)=\"\(tag.name)\" content=\"\(HTMLText.escaped(value))\">\n"
    }.joined()
  }

  private static func appName(_ opening: LinkOpening, device: LinkVisitor.Device, settings: LinkSettings) -> String? {
    if let bundle = opening.bundle(on: device) {
      return settings.iosApp(bundle)?.name ?? bundle.split(separator: ".").last.map(String.init) ?? bundle
    }
    return opening.parameters.web(.link)?.host
  }

  /// `ABCD-EFGH`, as people read it out.
  static func grouped(_ code: String) -> String {
    code.utf8.count == 8 ? "\(code.prefix(4))-\(code.suffix(4))" : code
  }

  /// Characters beyond which a title is set smaller.
  private static let shortTitleMax = 48

  private static let script = """
    (function(){var pic=document.querySelector('.hero img');if(pic){var off=function(){pic.remove()};\
    if(pic.complete&&!pic.naturalWidth)off();else pic.addEventListener('error',off)}\
    var go=document.getElementById('go'),box=document.getElementById('box'),save=document.getElementById('save');\
    if(!navigator.clipboard)return;box.hidden=false;go.addEventListener('click',function(e){if(!save.checked)return;\
    e.preventDefault();var on=function(){location.href=go.href};\
    navigator.clipboard.writeText(go.getAttribute('data-copy')).then(on,on)})})();
    """
}
