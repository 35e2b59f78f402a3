import Testing

@testable import Accounts

struct AbsoluteURLTests {
  @Test(
    "an absolute URL has a scheme and something behind it, and on the web a host",
    arguments: [
      ("https://play.example/a?b=c#d", true), ("http://localhost:9000", true), ("com.example.game:/back", true),
      ("app:x", true),
      ("", false), ("nowhere", false), ("/a/b", false), ("https:", false), ("https://", false), ("http:///path", false),
      ("https://a b", false), ("https://a\n", false), ("https://" + String(repeating: "a", count: 8192), false),
    ])
  func absolute(text: String, isAbsolute: Bool) {
    #expect((AbsoluteURL(text) != nil) == isAbsolute)
  }

  @Test(
    "a host is what browsers take for it",
    arguments: [
      ("https://Play.Example:443/a", "play.example"), ("https://user:secret@play.example/", "play.example"),
      ("https://evil.example\\@play.example/", "evil.example"), ("com.example.game:/back", nil),
    ] as [(String, String?)])
  func host(text: String, host: String?) throws {
    #expect(try #require(AbsoluteURL(text)).host == host)
  }

  @Test("parameters are those of the query, then those of the fragment")
  func parameters() throws {
    let url = try #require(AbsoluteURL("https://play.example/?a=1&b=%C3%A4+c#a=2&d"))
    #expect(url.parameters.map(\.name) == ["a", "b", "a", "d"])
    #expect(url.parameters.map(\.value) == ["1", "ä c", "2", ""])
    #expect(try #require(AbsoluteURL("https://play.example")).parameters.isEmpty)
  }

  @Test(
    "more parameters go into the query, before the fragment",
    arguments: [
      ("https://x.io", "https://x.io?a=1&b=%26"), ("https://x.io/?", "https://x.io/?a=1&b=%26"),
      ("https://x.io/?c=d", "https://x.io/?c=d&a=1&b=%26"), ("https://x.io/?c&", "https://x.io/?c&a=1&b=%26"),
      ("https://x.io/#f?g", "https://x.io/?a=1&b=%26#f?g"),
    ])
  func appending(text: String, expected: String) throws {
    #expect(try #require(AbsoluteURL(text)).appending([("a", "1"), ("b", "&")]) == expected)
  }
}
