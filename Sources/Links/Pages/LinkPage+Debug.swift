extension LinkPage {
  /// What the link would do on each platform, and what is doubtful about it: the page of `d=1`. Warnings and faults are for who
  /// made the link, in English.
  public static func debug(
    _ opening: LinkOpening, warnings: [LinkWarning], fault: LinkFault?, in phrases: LinkPhrases = .english
  ) -> LinkPage {
    let words = phrases.debug
    let visitors: [(String, String)] = [
      ("Android", "Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126 Mobile"),
      ("iPhone", "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)"),
      ("iPad", "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X)"),
      (words.desktop, "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"), (words.crawler, "facebookexternalhit/1.1"),
    ]
    let rows = visitors.map { name, agent in
      "<tr><th>\(HTMLText.escape(name))</th><td>"
        + HTMLText.escape(outcome(of: opening, for: LinkVisitor(userAgent: agent), in: words)) + "</td></tr>"
    }
    let values = LinkParameter.allCases.sorted().compactMap { parameter in
      opening.parameters[parameter].map {
        "<tr><th>\(parameter.rawValue)</th><td><code>\(HTMLText.escape($0))</code></td></tr>"
      }
    }
    var findings = warnings.map { finding($0.code, $0.message) }
    if let fault { findings.insert(finding(words.error, fault.message), at: 0) }
    let list = findings.isEmpty ? "<p>\(HTMLText.escape(words.nothing))</p>" : "<ul>\(findings.joined())</ul>"
    return LinkPage(
      title: words.title, language: phrases.language,
      body: """
        <main class="wide"><div class="card"><div class="inside"><h1>\(HTMLText.escape(words.heading))</h1>
        <p><code>\(HTMLText.escape(opening.address))</code></p>
        <h2>\(HTMLText.escape(words.platforms))</h2><table>\(rows.joined())</table>
        <h2>\(HTMLText.escape(words.findings))</h2>\(list)
        <h2>\(HTMLText.escape(words.parameters))</h2><table>\(values.joined())</table>
        </div></div></main>
        """)
  }

  private static func finding(_ name: String, _ message: String) -> String {
    "<li><b>\(HTMLText.escape(name))</b> <span lang=\"en\">\(HTMLText.escape(message))</span></li>"
  }

  /// What a visitor gets, in a sentence.
  private static func outcome(of opening: LinkOpening, for visitor: LinkVisitor, in words: LinkPhrases.Debug) -> String {
    let app = opening.bundle(on: visitor.device).map { words.app.replacing("{{app}}", with: $0) } ?? ""
    switch opening.outcome(for: visitor, click: "CLICK") {
    case .redirect(let url, _): return (visitor.device == .iphone || visitor.device == .ipad ? app : "") + url
    case .preview: return app + words.preview.replacing("{{url}}", with: opening.iosFallbackURL(on: visitor.device))
    case .card: return words.card
    }
  }
}
