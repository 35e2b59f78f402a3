import TestSupport
import Testing
import TextFormats

@Suite struct URLPartsTests {
  @Test(
    "a URL is cut into its components",
    arguments: [
      ("https://a.test/b/c?d=e#f", "https|a.test|/b/c|d=e|f"), ("http://a.test", "http|a.test||-|-"),
      ("HTTP://A.test?x", "HTTP|A.test||x|-"), ("http://a#x?y/z", "http|a||-|x?y/z"), ("/a?b?c", "-|-|/a|b?c|-"),
      ("mailto:a@b.test", "mailto|-|a@b.test|-|-"), ("//a/b", "-|a|/b|-|-"), ("a/b:c", "-|-|a/b:c|-|-"),
      ("1a:b", "-|-|1a:b|-|-"), ("", "-|-||-|-"), ("x+y-1.z:", "x+y-1.z|-||-|-"), ("https://u:p@h:1/?", "https|u:p@h:1|/||-"),
      ("http:///x", "http||/x|-|-"), ("a:/\u{301}/b", "a|-|/\u{301}/b|-|-"), ("http://h/?\u{301}x", "http|h|/|\u{301}x|-"),
    ])
  func parts(_ text: String, _ expected: String) {
    let url = URLParts(text)
    let shown = [url.scheme, url.authority, url.path, url.query, url.fragment].map { $0.map(String.init) ?? "-" }
    #expect(shown.joined(separator: "|") == expected)
  }

  @Test(
    "an authority is cut into its components",
    arguments: [
      ("a.test", "-|a.test|-|-"), ("a:80", "-|a|80|80"), ("u:p@a:80", "u:p|a|80|80"), ("a@b@c", "a@b|c|-|-"),
      ("[::1]", "-|::1|-|-"), ("[::1]:9000", "-|::1|9000|9000"), ("", "-||-|-"), (":80", "-||80|80"), ("a:", "-|a||-"),
      ("a:0", "-|a|0|-"), ("a:65536", "-|a|65536|-"), ("a:+80", "-|a|+80|-"), ("::1", "-||:1|-"),
    ])
  func authority(_ text: String, _ expected: String) throws {
    let authority = try #require(URLAuthority(text))
    let shown =
      [authority.userInfo.map(String.init), String(authority.host), authority.port.map(String.init)]
      .map { $0 ?? "-" } + [authority.portNumber.map(String.init) ?? "-"]
    #expect(shown.joined(separator: "|") == expected)
    #expect(authority.isBracketed == text.contains("["))
  }

  @Test("brackets must be closed, and only a port may follow them", arguments: ["[::1", "[::1]x", "u@[a"])
  func refused(_ text: String) {
    #expect(URLAuthority(text) == nil)
  }

  @Test(
    "a request's target is a path with its query, alone or behind scheme and host, and has no fragment",
    arguments: [
      ("/a/b?c=d", "-|-|/a/b|c=d|-"), ("/", "-|-|/|-|-"), ("//a/b", "-|-|//a/b|-|-"), ("/a:b://c", "-|-|/a:b://c|-|-"),
      ("/?", "-|-|/||-"), ("/a?b?c", "-|-|/a|b?c|-"), ("/a#b?c#d", "-|-|/a#b|c#d|-"), ("http://h:1/a?b", "http|h:1|/a|b|-"),
      ("http://h", "http|h||-|-"), ("http://h?x=/a", "http|h||x=/a|-"), ("http:///a", "http||/a|-|-"),
    ])
  func target(_ text: String, _ expected: String) throws {
    let bytes = Array(text.utf8)
    let ranges = try #require(bytes.withUnsafeBytes { URLRanges(requestTarget: $0) })
    let shown = [ranges.scheme, ranges.authority, ranges.path, ranges.query, ranges.fragment]
      .map { $0.map { String(decoding: bytes[$0], as: UTF8.self) } ?? "-" }
    #expect(shown.joined(separator: "|") == expected)
  }

  @Test("other forms of a target are refused", arguments: ["", "a", "*", "h:80", "a:b://c/d", "?x=/a", "://h/a", "1a://h/a"])
  func otherForms(_ text: String) {
    #expect(Array(text.utf8).withUnsafeBytes { URLRanges(requestTarget: $0) } == nil)
  }

  @Test("a byte is found where a search byte by byte finds it")
  func byteSearch() {
    var source = SplitMix64(seed: 62)
    for _ in 0..<1_000 {
      let bytes = (0..<Int.random(in: 0...6, using: &source)).map { _ in UInt8.random(in: 0...3, using: &source) }
      bytes.withUnsafeBytes { memory in
        #expect(memory.first(2) == bytes.firstIndex(of: 2))
        #expect(memory.first(2, from: 3) == bytes.indices.first { $0 >= 3 && bytes[$0] == 2 })
      }
    }
  }
}
