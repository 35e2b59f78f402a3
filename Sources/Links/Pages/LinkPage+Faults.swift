extension LinkPage {
  /// Nothing is known under this address.
  public static func notFound(_ address: String, in phrases: LinkPhrases = .english) -> LinkPage {
    LinkPage(phrases.unknown, address, phrases)
  }

  /// An administrator has switched the link off.
  public static func disabled(_ address: String, in phrases: LinkPhrases) -> LinkPage {
    LinkPage(phrases.disabled, address, phrases)
  }

  /// An administrator has deleted the link.
  public static func deleted(_ address: String, in phrases: LinkPhrases) -> LinkPage {
    LinkPage(phrases.deleted, address, phrases)
  }

  /// The link is wrong, or not allowed. Why is for who made it, in English.
  public static func invalid(_ fault: LinkFault, in phrases: LinkPhrases = .english) -> LinkPage {
    LinkPage(heading: phrases.invalid, text: "<span lang=\"en\">\(HTMLText.escape(fault.message))</span>", phrases)
  }

  private init(_ fault: LinkPhrases.Fault, _ address: String, _ phrases: LinkPhrases) {
    let link = "<code>\(HTMLText.escape(String(address.prefix(500))))</code>"
    self.init(heading: fault.heading, text: HTMLText.escape(fault.text).replacing("{{link}}", with: link), phrases)
  }

  private init(heading: String, text: String, _ phrases: LinkPhrases) {
    self.init(
      title: heading, language: phrases.language,
      body: """
        <main><div class="card"><div class="inside"><h1>\(HTMLText.escape(heading))</h1>
        <p>\(text)</p></div></div></main>
        """)
  }

  /// What the link would do on each platform, and what is doubtful about it: the page of `d=1`.
  public static func debug(
    _ opening: LinkOpening, settings: LinkSettings, warnings: [LinkWarning], fault: LinkFault?
  ) -> LinkPage {
    let visitors: [(String, String)] = [
      ("Android", "Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126 Mobile"),
      ("iPhone", "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)"),
      ("iPad", "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X)"), ("Desktop", "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"),
      ("Social crawler", "facebookexternalhit/1.1"),
    ]
    let rows = visitors.map { name, agent in
      "<tr><th>\(name)</th><td>\(HTMLText.escape(words(opening, LinkVisitor(userAgent: agent))))</td></tr>"
    }
    let values = LinkParameter.allCases.sorted().compactMap { parameter in
      opening.parameters[parameter].map {
        "<tr><th>\(parameter.rawValue)</th><td><code>\(HTMLText.escape($0))</code></td></tr>"
      }
    }
    var findings = warnings.map {
      "<li><b>\(HTMLText.escape($0.code))</b> \(HTMLText.escape($0.message))</li>"
    }
    if let fault { findings.insert("<li><b>Error</b> \(HTMLText.escape(fault.message))</li>", at: 0) }
    let list = findings.isEmpty ? "<p>No errors and no warnings.</p>" : "<ul>\(findings.joined())</ul>"
    return LinkPage(
      title: "Link preview",
      body: """
        <main class="wide"><div class="card"><div class="inside"><h1>Where this link leads</h1>
        <p><code>\(HTMLText.escape(opening.address))</code></p>
        <h2>By platform</h2><table>\(rows.joined())</table>
        <h2>Errors and warnings</h2>\(list)
        <h2>Parameters</h2><table>\(values.joined())</table>
        </div></div></main>
        """)
  }

  private static func words(_ opening: LinkOpening, _ visitor: LinkVisitor) -> String {
    let app =
      opening.bundle(on: visitor.device).map { "The app \($0), if it is installed. Otherwise: " } ?? ""
    switch opening.outcome(for: visitor, click: "CLICK") {
    case .redirect(let url, _): return (visitor.device == .iphone || visitor.device == .ipad ? app : "") + url
    case .preview: return "\(app)a preview page, then \(opening.iosFallbackURL(on: visitor.device))"
    case .card: return "A page with the link's title, description and image; no redirect."
    }
  }
}
