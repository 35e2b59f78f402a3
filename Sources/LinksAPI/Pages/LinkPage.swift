import Crypto
import Links
import TextFormats
import TreeModel

/// A page that a link's host answers with: whole, with the policy that says what it may load.
struct LinkPage: Sendable, Hashable {
  /// The HTML.
  let html: String
  /// The value of `Content-Security-Policy`.
  let policy: String

  /// A page in the style of all of them.
  ///
  /// - `language`: what it is written in.
  /// - `head`: further elements of the head, as HTML.
  /// - `body`: the body, as HTML.
  /// - `script`: a script that is the same for every link; what differs stands in attributes.
  init(title: String, language: String = "en", head: String = "", body: String, script: String? = nil) {
    let code = script.map { "<script>\($0)</script>" } ?? ""
    html = """
      <!DOCTYPE html>
      <html lang="\(language)">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
      <meta name="robots" content="noindex">
      <meta name="color-scheme" content="light dark">
      <meta name="theme-color" content="#f4f2ee" media="(prefers-color-scheme: light)">
      <meta name="theme-color" content="#121418" media="(prefers-color-scheme: dark)">
      <title>\(HTMLText.escaped(title))</title>
      \(head)<style>\(Self.style)</style>
      </head>
      <body>
      \(body)
      \(code)</body>
      </html>

      """
    policy =
      "default-src 'none'; img-src https: http:; style-src \(Self.styleSource); "
      + (script.map { "script-src \(Self.hashSource($0)); " } ?? "")
      + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  }

  private static let styleSource = hashSource(style)

  /// What a policy names an inline style or script by: its exact text.
  private static func hashSource(_ text: String) -> String {
    "'sha256-\(Base64.encode(SHA256.hash(data: Array(text.utf8)), as: .standard))'"
  }

  private static let style = """
    :root{--ink:#1b1c1f;--soft:#5d6068;--paper:#f4f2ee;--card:#fff;--line:#e4e1da;--gold:#96650f;--deep:#14213d;\
    --key:#14213d;--onkey:#fff;--sky:#1d3156;--sea:#4a78ab}
    @media(prefers-color-scheme:dark){:root{--ink:#f2f0ea;--soft:#b0ada4;--paper:#121418;--card:#1c1f26;--line:#343841;\
    --gold:#e6b85c;--deep:#e9e4d6;--key:#e6b85c;--onkey:#1b1406;--sky:#1a2540;--sea:#3f5f8a}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.5 -apple-system,BlinkMacSystemFont,"Segoe UI",\
    Roboto,"Helvetica Neue",Arial,sans-serif;-webkit-text-size-adjust:100%}
    main{max-width:28rem;margin:0 auto;padding:1.25rem max(1.1rem,\
    env(safe-area-inset-right)) calc(2rem + env(safe-area-inset-bottom)) max(1.1rem,env(safe-area-inset-left))}
    .card{background:var(--card);border:1px solid var(--line);border-radius:22px;overflow:hidden;\
    box-shadow:0 12px 32px rgba(20,33,61,.08)}
    .hero{height:6.5rem;background:radial-gradient(120% 160% at 80% -30%,#e6b85c 0,transparent 45%),\
    linear-gradient(160deg,var(--sky),var(--sea));overflow:hidden}
    .hero:has(img){height:auto}
    .hero img{display:block;width:100%;aspect-ratio:1.91;max-height:34vh;object-fit:cover}
    .inside{padding:1.4rem}
    .hero+.inside{padding-top:0}
    .app{display:flex;align-items:flex-end;gap:.75rem;margin:-1.6rem 0 1rem;color:var(--soft);font-size:.95rem;\
    font-weight:500}
    .app span:last-child{min-width:0;overflow-wrap:anywhere;padding-top:1.8rem}
    .icon{flex:none;width:3.5rem;height:3.5rem;border-radius:.95rem;background:linear-gradient(145deg,#2b4a7e,#14213d);\
    color:#fff;border:3px solid var(--card);display:flex;align-items:center;justify-content:center;font-weight:700;\
    font-size:1.45rem}
    h1{font-size:1.65rem;line-height:1.2;letter-spacing:-.015em;margin:0 0 .5rem;overflow-wrap:anywhere;hyphens:auto;\
    text-wrap:balance}
    h1.long{font-size:1.25rem;line-height:1.28;letter-spacing:-.01em;display:-webkit-box;-webkit-box-orient:vertical;\
    -webkit-line-clamp:5;overflow:hidden}
    p{margin:0 0 1.1rem;color:var(--soft);overflow-wrap:anywhere}
    .words{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:6;overflow:hidden;text-wrap:pretty}
    .button{display:block;width:100%;text-align:center;text-decoration:none;font-weight:600;font-size:1.06rem;\
    padding:.9rem 1rem;border-radius:14px;background:var(--key);color:var(--onkey)}
    .button:active{opacity:.85}
    .button:focus-visible,input:focus-visible{outline:3px solid var(--gold);outline-offset:2px}
    .second{background:none;color:var(--deep);box-shadow:inset 0 0 0 1px var(--line);margin-top:.65rem}
    label{display:flex;gap:.75rem;align-items:flex-start;margin:0 0 1rem;padding:.8rem .95rem;border-radius:14px;\
    background:var(--paper);font-size:.95rem;color:var(--ink)}
    label[hidden]{display:none}
    label small{display:block;color:var(--soft);line-height:1.4}
    input{width:1.2rem;height:1.2rem;margin:.15rem 0 0;accent-color:var(--key);flex:none}
    .code{margin:1.2rem 0 0;padding-top:1rem;border-top:1px solid var(--line);text-align:center;font-size:.92rem;\
    color:var(--soft)}
    .code b{display:block;margin-top:.2rem;font:700 1.5rem/1.3 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;\
    letter-spacing:.12em;color:var(--gold);user-select:all;-webkit-user-select:all}
    table{width:100%;border-collapse:collapse;font-size:.92rem}
    td,th{text-align:left;vertical-align:top;padding:.5rem .4rem;border-bottom:1px solid var(--line);\
    overflow-wrap:anywhere}
    th{white-space:nowrap;color:var(--soft);font-weight:600}
    code{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
    .wide{max-width:52rem}
    h2{font-size:1.1rem;margin:1.6rem 0 .5rem}
    ul{padding-left:1.2rem;margin:.3rem 0}
    """
}

extension LinkPage {
  /// Nothing is known under this address.
  static func notFound(_ address: String, in phrases: LinkPhrases = .english) -> LinkPage {
    LinkPage(phrases.unknown, address, phrases)
  }

  /// An administrator has switched the link off.
  static func disabled(_ address: String, in phrases: LinkPhrases) -> LinkPage {
    LinkPage(phrases.disabled, address, phrases)
  }

  /// An administrator has deleted the link.
  static func deleted(_ address: String, in phrases: LinkPhrases) -> LinkPage {
    LinkPage(phrases.deleted, address, phrases)
  }

  /// The link is wrong, or not allowed. Why is for who made it, in English.
  static func invalid(_ message: String, in phrases: LinkPhrases = .english) -> LinkPage {
    LinkPage(heading: phrases.invalid, text: "<span lang=\"en\">\(HTMLText.escaped(message))</span>", phrases)
  }

  private init(_ notice: LinkPhrases.Notice, _ address: String, _ phrases: LinkPhrases) {
    let link = "<code>\(HTMLText.escaped(String(address.prefix(500))))</code>"
    self.init(heading: notice.heading, text: HTMLText.escaped(notice.text).replacing("{{link}}", with: link), phrases)
  }

  private init(heading: String, text: String, _ phrases: LinkPhrases) {
    self.init(
      title: heading, language: phrases.language,
      body: """
        <main><div class="card"><div class="inside"><h1>\(HTMLText.escaped(heading))</h1>
        <p>\(text)</p></div></div></main>
        """)
  }
}

extension LinkPage {
  /// The page for a browser that says it is a Mac and may be an iPad: whether the screen is touched tells, and the page goes on
  /// to the same link with the answer. Without JavaScript it is a Mac.
  ///
  /// - `query`: of the URL that was asked for, as it was sent; all else of the URL stays by itself.
  static func asking(_ query: String, in phrases: LinkPhrases) -> LinkPage {
    let bare = query.isEmpty ? "?" : "?\(query)&"
    let desktop = HTMLText.escaped(bare + "_ipad=0")
    return LinkPage(
      title: phrases.goOn, language: phrases.language,
      head: "<noscript><meta http-equiv=\"refresh\" content=\"0;url=\(desktop)\"></noscript>\n",
      body: """
        <main><div class="card"><div class="inside"><a class="button" id="go" rel="noreferrer" \
        data-ipad="\(HTMLText.escaped(bare + "_ipad=1"))" href="\(desktop)">\(HTMLText.escaped(phrases.goOn))</a></div></div></main>
        """, script: askingScript)
  }

  private static let askingScript = """
    (function(){var go=document.getElementById('go');\
    location.replace(navigator.maxTouchPoints>1?go.getAttribute('data-ipad'):go.href)})();
    """
}

extension LinkPage {
  /// What the link would do on each platform, and what is doubtful about it: the page of `d=1`. Warnings and errors are for who
  /// made the link, in English.
  static func debug(
    _ opening: LinkOpening, warnings: [LinkWarning], error: LinkError?, in phrases: LinkPhrases = .english
  ) -> LinkPage {
    let words = phrases.debug
    let visitors: [(String, String)] = [
      ("Android", "Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126 Mobile"),
      ("iPhone", "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)"),
      ("iPad", "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X)"),
      (words.desktop, "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"), (words.crawler, "facebookexternalhit/1.1"),
    ]
    let rows = visitors.map { name, agent in
      "<tr><th>\(HTMLText.escaped(name))</th><td>"
        + HTMLText.escaped(outcome(of: opening, for: LinkVisitor(userAgent: agent), in: words)) + "</td></tr>"
    }
    let values = LinkParameter.allCases.sorted().compactMap { parameter in
      opening.parameters[parameter].map {
        "<tr><th>\(parameter.rawValue)</th><td><code>\(HTMLText.escaped($0))</code></td></tr>"
      }
    }
    var findings = warnings.map { finding($0.code, message: $0.message) }
    if let error { findings.insert(finding(words.error, message: error.message), at: 0) }
    let list = findings.isEmpty ? "<p>\(HTMLText.escaped(words.nothing))</p>" : "<ul>\(findings.joined())</ul>"
    return LinkPage(
      title: words.title, language: phrases.language,
      body: """
        <main class="wide"><div class="card"><div class="inside"><h1>\(HTMLText.escaped(words.heading))</h1>
        <p><code>\(HTMLText.escaped(opening.address))</code></p>
        <h2>\(HTMLText.escaped(words.platforms))</h2><table>\(rows.joined())</table>
        <h2>\(HTMLText.escaped(words.findings))</h2>\(list)
        <h2>\(HTMLText.escaped(words.parameters))</h2><table>\(values.joined())</table>
        </div></div></main>
        """)
  }

  private static func finding(_ name: String, message: String) -> String {
    "<li><b>\(HTMLText.escaped(name))</b> <span lang=\"en\">\(HTMLText.escaped(message))</span></li>"
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
