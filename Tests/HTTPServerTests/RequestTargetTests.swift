import Testing

@testable import HTTPServer

@Suite struct RequestTargetTests {
  @Test(
    "a URI is cut into its path and its decoded parameters",
    arguments: [
      ("/a/b.json", "/a/b.json", []), ("/a?x=1", "/a", ["x=1"]), ("/?", "/", []), ("http://host/a?x=%20", "/a", ["x= "]),
      ("http://host", "", []), ("https://host?x=/a.json", "", ["x=/a.json"]), ("/a?b=c=d&&=x&e", "/a", ["b=c=d", "=x", "e="]),
      ("/a?x=?&%78=%26", "/a", ["x=?", "x=&"]), ("//a", "//a", []), ("/a:b://c", "/a:b://c", []), ("/a?x=1+2", "/a", ["x=1 2"]),
    ])
  func cuts(_ uri: String, _ path: String, _ parameters: [String]) throws {
    let target = try #require(RequestTarget(uri))
    #expect(String(decoding: target.path, as: UTF8.self) == path)
    #expect(target.query.parameters.map { "\($0.name)=\($0.value)" } == parameters)
  }

  @Test("of two parameters of one name the last counts")
  func last() throws {
    let target = try #require(RequestTarget("/a?x=1&x=2"))
    #expect(target.query["x"] == "2" && target.query["y"] == nil)
  }

  @Test(
    "what is neither a path nor absolute, or is not percent-encoded UTF-8, is no URI",
    arguments: ["", "a", "*", "host:80", "a:b://c/d", "?x=/a", "?x=://h/a", "://h/a", "/a?x=%", "/a?x=%G0", "/a?%FF=1"])
  func refuses(_ uri: String) {
    #expect(RequestTarget(uri) == nil)
  }
}
