import Testing
import TextFormats

@Suite struct PercentEncodingTests {
  @Test(
    "a segment keeps letters, digits and -._~",
    arguments: [
      ("", ""), ("aZ09-._~", "aZ09-._~"), ("a b", "a%20b"), ("/?#%", "%2F%3F%23%25"), ("é😀", "%C3%A9%F0%9F%98%80"),
      ("a+b&c=d", "a%2Bb%26c%3Dd"),
    ])
  func segment(_ text: String, _ encoded: String) {
    #expect(PercentEncoding.encode(text) == encoded)
    #expect(PercentEncoding.decode(encoded) == text)
  }

  @Test("only what cannot occur in a URL is encoded")
  func illegal() {
    #expect(PercentEncoding.encodeIllegal("/a b?c=\"d\"#<é>`\\") == "/a%20b?c=%22d%22#%3C%C3%A9%3E%60%5C")
    #expect(PercentEncoding.encodeIllegal("/100%&a=b%20c") == "/100%&a=b%20c")
  }

  @Test(
    "what is not percent-encoded UTF-8 is refused", arguments: ["%", "%a", "%zz", "a%4", "%C3", "%C3%28", "%ED%A0%80", "% 20"])
  func refused(_ text: String) {
    #expect(PercentEncoding.decode(text) == nil)
  }

  @Test("a plus is a space in queries alone")
  func plus() {
    let bytes = Array("a+b%2Bc".utf8)
    #expect(PercentEncoding.decode("a+b%2Bc") == "a+b+c")
    #expect(bytes.withUnsafeBytes { PercentEncoding.decode($0) } == "a+b+c")
    #expect(bytes.withUnsafeBytes { PercentEncoding.decode($0, plusIsSpace: true) } == "a b+c")
  }

  @Test("bytes beyond ASCII that are no UTF-8 are refused without escapes too")
  func raw() {
    let bytes: [UInt8] = [0x61, 0xFF]
    #expect(bytes.withUnsafeBytes { PercentEncoding.decode($0) } == nil)
  }

  @Test(
    "forms are read as browsers read them",
    arguments: [
      ("", []), ("a=1&b=2", ["a:1", "b:2"]), ("a", ["a:"]), ("=x", [":x"]), ("&&a=&", ["a:"]), ("a=b=c", ["a:b=c"]),
      ("a+b=%2B+c", ["a b:+ c"]), ("a=%&b=%4&c=%zz", ["a:%", "b:%4", "c:%zz"]), ("a=%C3", ["a:\u{FFFD}"]),
    ] as [(String, [String])])
  func form(_ text: String, _ fields: [String]) {
    #expect(FormEncoding.parse(text).map { "\($0.name):\($0.value)" } == fields)
  }
}
