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
}
