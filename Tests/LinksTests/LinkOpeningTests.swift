import Links
import Testing

/// Where a link leads, by what it says and by what opens it.
@Suite struct LinkOpeningTests {
  /// What opens a link.
  enum Agent: String {
    case android = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0.0.0 Mobile Safari/537.36"
    case androidFirefox = "Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0"
    case iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Safari/604.1"
    case ipad = "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 Version/16.6 Safari/604.1"
    case desktop = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36"
    case mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 Version/17.5 Safari/605.1.15"
    case facebook = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"
    case slack = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"
    case whatsApp = "WhatsApp/2.23.20.0 A"
    case curl = "curl/8.5.0"
  }

  static let apps = "&apn=test.acme.app&ibi=test.acme.ios&isi=900100200"

  static func fallback(_ url: String) -> LinkOpening.Outcome { .redirect(url, isFallback: true) }
  static func content(_ url: String) -> LinkOpening.Outcome { .redirect(url, isFallback: false) }

  static let rows: [(String, Agent, LinkOpening.Outcome)] = [
    // A desktop goes to the content, or to what was named for it.
    ("link=https://acme.test/a", .desktop, content("https://acme.test/a")),
    ("link=https://acme.test/a&ofl=https://acme.test/desk", .desktop, fallback("https://acme.test/desk")),
    ("link=https://acme.test/a&ofl=https://acme.test/desk", .mac, fallback("https://acme.test/desk")),
    ("link=https://acme.test/a", .curl, content("https://acme.test/a")),
    ("link=https://acme.test/a\(apps)", .desktop, content("https://acme.test/a")),
    // What is encoded inside stays inside.
    ("link=https://acme.test/x?item%3D1%26b%3D2&apn=test.acme.app", .desktop, content("https://acme.test/x?item=1&b=2")),
    ("link=https%3A%2F%2Facme%2Etest%2Fx%3Fa%3D1%2B2", .desktop, content("https://acme.test/x?a=1+2")),
    // Android without an app.
    ("link=https://acme.test/a", .android, content("https://acme.test/a")),
    ("link=https://acme.test/a&al=https://acme.test/android", .android, content("https://acme.test/android")),
    // Firefox would take the fallback of an intent anyway.
    ("link=https://acme.test/a\(apps)&afl=https://acme.test/get", .androidFirefox, fallback("https://acme.test/get")),
    // An iPhone sees the page.
    ("link=https://acme.test/a\(apps)", .iphone, .preview), ("link=https://acme.test/a\(apps)", .ipad, .preview),
    ("link=https://acme.test/a", .iphone, content("https://acme.test/a")),
    // Or is sent on at once: fallback, store, content.
    ("link=https://acme.test/a\(apps)&efr=1&ifl=https://acme.test/ifl", .iphone, fallback("https://acme.test/ifl")),
    (
      "link=https://acme.test/a\(apps)&efr=1&pt=11&ct=c%20c&at=33", .iphone,
      fallback("https://apps.apple.com/app/id900100200?mt=8&pt=11&ct=c%20c&at=33")
    ),
    ("link=https://acme.test/a&ibi=test.acme.bare&efr=1", .iphone, content("https://acme.test/a")),
    (
      "link=https://acme.test/a&ibi=test.acme.ios&efr=1", .iphone, fallback("https://apps.apple.com/app/id900100200?mt=8")
    ),
    // An iPad has its own, and else the phone's.
    (
      "link=https://acme.test/a\(apps)&efr=1&ipfl=https://acme.test/pad&ifl=https://acme.test/ifl", .ipad,
      fallback("https://acme.test/pad")
    ),
    ("link=https://acme.test/a\(apps)&efr=1&ifl=https://acme.test/ifl", .ipad, fallback("https://acme.test/ifl")),
    (
      "link=https://acme.test/a\(apps)&efr=1&ipfl=https://acme.test/pad&ifl=https://acme.test/ifl", .iphone,
      fallback("https://acme.test/ifl")
    ),
    // efr means nothing elsewhere.
    ("link=https://acme.test/a&efr=1&ofl=https://acme.test/desk", .desktop, fallback("https://acme.test/desk")),
    ("link=https://acme.test/a&efr=1", .android, content("https://acme.test/a")),
    ("link=https://acme.test/a\(apps)&efr=1&afl=https://acme.test/get", .androidFirefox, fallback("https://acme.test/get")),
    // Programs get a card.
    ("link=https://acme.test/a\(apps)&st=Hi", .facebook, .card), ("link=https://acme.test/a\(apps)&st=Hi", .slack, .card),
    ("link=https://acme.test/a&st=Hi", .whatsApp, .card),
  ]

  @Test("each platform goes where the table says", arguments: rows)
  func table(_ query: String, _ agent: Agent, _ outcome: LinkOpening.Outcome) throws {
    let settings = try LinkSettings(document: LinkFixture.settings)
    let long = try LongLink("\(LinkFixture.prefix)/?\(query)", settings: settings)
    let opening = LinkOpening(
      long.parameters, address: long.parameters.longLink(below: long.prefix), settings: settings)
    #expect(opening.outcome(for: LinkVisitor(userAgent: agent.rawValue), click: "CLICK") == outcome)
  }

  @Test("a long link is opened as its short form is, or refused for what it says")
  func longLink() async throws {
    try await LinkFixture.run { fixture in
      let prefix = try #require(LinkPrefix(LinkFixture.prefix))
      let (opening, warnings) = try fixture.links.longLink([("link", "https://acme.test/a"), ("amv", "1")], below: prefix)
      #expect(opening.destination == "https://acme.test/a" && warnings == [.noEffectWithoutApp(.androidMinimumVersion)])
      #expect(throws: LinkError.self) { try fixture.links.longLink([("link", "https://evil.test/")], below: prefix) }
      let error = fixture.links.findings(LinkOpening(LinkParameters(), address: "", settings: .init()), below: prefix).error
      #expect(error?.message.contains("Link parameter is missing") == true)
    }
  }
}
