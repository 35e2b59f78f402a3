import TestSupport
import Testing

@testable import Links

@Suite struct GrammarTests {
  @Test(
    "a URL is read as browsers read it, or not at all",
    arguments: [
      ("https://Acme.test:8443/A?b#c", "https://acme.test:8443/A?b#c"), ("HTTP://acme.test", "http://acme.test"),
      ("https://acme.test?x=1", "https://acme.test?x=1"), ("https://acme.test/ä b\"<", "https://acme.test/%C3%A4%20b%22%3C"),
      ("https://a@acme.test", nil), ("https://acme.test\\@evil", nil), ("https:/acme.test", nil), ("//acme.test", nil),
      ("https://", nil), ("https://a..b", nil), ("https://-a.b", nil), ("https://acme.test:99999", nil),
      ("https://acme.test:", nil),
      ("https://acme.test/\n", nil), ("java script:x", nil), ("https://é.test", nil), ("1http://a", nil),
      ("https://acme.test:+80", nil),
    ])
  func urls(_ text: String, _ expected: String?) {
    #expect(LinkURL(text)?.text == expected)
  }

  @Test(
    "a prefix is https, a host and segments; the remainder is cut at segments",
    arguments: [
      ("https://go.acme.test", "https://go.acme.test"), ("https://go.acme.test/", "https://go.acme.test"),
      ("https://go.acme.test/a/b/", "https://go.acme.test/a/b"), ("http://go.acme.test", nil),
      ("https://go.acme.test/a b", nil),
      ("https://go.acme.test/a//b", nil), ("https://go.acme.test?x", nil), ("go.acme.test", nil),
      ("https://go.acme.test/..", nil),
    ])
  func prefixes(_ text: String, _ expected: String?) {
    #expect(LinkPrefix(text)?.description == expected)
  }

  @Test("mypath does not hold mypathabc")
  func remainder() throws {
    let prefix = try #require(LinkPrefix("https://go.acme.test/mypath"))
    #expect(prefix.remainder(of: "/mypath/x") == "x" && prefix.remainder(of: "/mypath") == "")
    #expect(prefix.remainder(of: "/mypathabc/x") == nil && prefix.remainder(of: "/my") == nil)
  }

  @Test("parameters: split at & and the first =, decoded once, plus stays plus, order and repetition do not matter")
  func parameters() throws {
    let query = try #require(
      LinkURL.parameters(of: "link=https://a.test/?x%3D1%26y%3Db%2Bc+d&apn=a&apn=b&foo=1&d=1&cid=x&_icp=1"))
    let parameters = LinkParameters(query)
    #expect(parameters[.link] == "https://a.test/?x=1&y=b+c+d" && parameters[.androidPackage] == "a")
    #expect(parameters.unknown == ["foo"])
    #expect(LinkParameters(query.reversed().filter { $0.value != "b" }).canonical == parameters.canonical)
    #expect(LinkURL.parameters(of: "a=%zz") == nil && LinkURL.parameters(of: "a=%ff") == nil)
  }

  @Test("what is written canonically reads back, whatever it holds")
  func canonical() throws {
    var random = SplitMix64(seed: 5)
    for _ in 0..<200 {
      var parameters = LinkParameters()
      for parameter in LinkParameter.allCases where Bool.random(using: &random) {
        let scalars = (0..<Int.random(in: 1...12, using: &random)).map { _ in
          Unicode.Scalar(UInt32.random(in: 1...0x3000, using: &random)) ?? "x"
        }
        parameters[parameter] = String(String.UnicodeScalarView(scalars))
      }
      let back = try #require(LinkParameters(canonical: parameters.canonical))
      #expect(back.canonical == parameters.canonical)
      for parameter in LinkParameter.allCases {
        #expect(back[parameter].map { Array($0.utf8) } == parameters[parameter].map { Array($0.utf8) })
      }
    }
  }

  @Test("suffixes: 17 characters of 96 bits, short ones of base 62, codes that can be read out")
  func suffixes() {
    var random = SplitMix64(seed: 3)
    var seen: Set<String> = []
    for _ in 0..<1000 {
      let suffix = LinkSuffix.unguessable(using: &random)
      #expect(suffix.utf8.count == 17 && LinkSuffix.isSegment(suffix))
      seen.insert(suffix)
      let code = LinkSuffix.code(using: &random)
      #expect(LinkSuffix.normalizedCode(" \(code.prefix(4).lowercased())-\(code.suffix(4)) ") == code)
    }
    #expect(seen.count == 1000)
    for bad in ["", "ABCDEFG", "ABCDEFGHJ", "ABCD-EFG0", "ÄBCDEFGH"] { #expect(LinkSuffix.normalizedCode(bad) == nil) }
    var zeros = ConstantBits(value: 0)
    #expect(LinkSuffix.unguessable(using: &zeros) == String(repeating: "0", count: 17))
    var ones = ConstantBits(value: .max)
    // 2^96 - 1 in base 62.
    #expect(LinkSuffix.unguessable(using: &ones) == "1f2SI9UJPXvb7vdJ1")
  }

  @Test("tables: quotes, line ends, byte order marks, empty fields; formulas are disarmed when written")
  func tables() {
    #expect(LinkCSV.rows("\u{FEFF}a,b\r\n\"x,\"\"y\"\"\",\n\n,z") == [["a", "b"], ["x,\"y\"", ""], ["", "z"]])
    #expect(LinkCSV.rows("\"open") == nil && LinkCSV.rows("") == [])
    #expect(LinkCSV.line(["=1+1", "a,b", "c\"d", ""]) == "'=1+1,\"a,b\",\"c\"\"d\",\r\n")
  }

  @Test("an import finds its columns by name, or by place")
  func importing() throws {
    let named = try LinkImport(
      csv: "Link name,Short link,Long link\nposter,https://a.page.link/x,https://a.page.link/?link=https://b")
    #expect(
      named.rows == [
        .init(number: 2, short: "https://a.page.link/x", long: "https://a.page.link/?link=https://b", name: "poster")
      ])
    #expect(try LinkImport(csv: "https://a/x,https://b").rows.map(\.number) == [1])
    let states = try LinkImport(
      csv: "State,Short link,Long link\nDisabled,https://a/x,https://b\nenabled,https://a/y,https://c\n,a/z,d")
    #expect(states.rows.map(\.isDisabled) == [true, false, false])
    #expect(throws: LinkError.self) { try LinkImport(csv: "one,two\n1,2") }
  }

  @Test(
    "user agents",
    arguments: [
      ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X)", LinkVisitor.Device.iphone, false, "17.5.1"),
      ("Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X)", .ipad, false, "16.6"),
      ("Mozilla/5.0 (Linux; Android 14; Pixel 8)", .android, false, "14"),
      ("Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5)", .desktop, false, ""),
      ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) CriOS/126.0 Version/17.5 Safari/604.1", .ipad, false, ""),
      ("Mozilla/5.0 (X11; Linux x86_64)", .desktop, false, ""),
      ("Twitterbot/1.0", .other, true, ""), ("TelegramBot (like TwitterBot)", .other, true, ""),
      ("LinkedInBot/1.0 (compatible; Mozilla/5.0)", .other, true, ""),
      ("Mozilla/5.0 (compatible; Discordbot/2.0)", .other, true, ""),
      ("Mozilla/5.0 (Macintosh) Applebot/0.1", .desktop, true, ""), ("", .other, false, ""),
    ])
  func agents(_ agent: String, _ device: LinkVisitor.Device, _ isCrawler: Bool, _ version: String) {
    let visitor = LinkVisitor(userAgent: agent)
    #expect(visitor.device == device && visitor.isCrawler == isCrawler && visitor.systemVersion == version)
  }

  @Test(
    "of an address its network is compared",
    arguments: [
      ("192.0.2.7", "192.0.2.7"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:db8::1", "2001:db8:0:0::/64"),
      ("::ffff:192.0.2.7", "192.0.2.7"),
    ])
  func networks(_ address: String, _ network: String) {
    #expect(RecentClicks.network(of: address) == network)
  }
}

/// Every bit the same.
private struct ConstantBits: RandomNumberGenerator {
  let value: UInt64
  mutating func next() -> UInt64 { value }
}
