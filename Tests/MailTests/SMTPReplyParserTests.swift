import TestSupport
import Testing

@testable import Mail

@Suite struct SMTPReplyParserTests {
  private func replies(_ text: String) throws -> [SMTPReply] {
    var parser = SMTPReplyParser()
    return try parser.take(Array(text.utf8))
  }

  @Test("replies of one line and of several")
  func reading() throws {
    #expect(try replies("220 hi\r\n") == [SMTPReply(code: 220, lines: ["hi"])])
    #expect(
      try replies("250-a\r\n250-b c\r\n250 d\r\n354\r\n421 \n") == [
        SMTPReply(code: 250, lines: ["a", "b c", "d"]), SMTPReply(code: 354, lines: [""]), SMTPReply(code: 421, lines: [""]),
      ])
    #expect(try replies("250-a\r\n250").isEmpty)
  }

  @Test("whatever pieces the bytes come in, the replies are the same")
  func pieces() throws {
    let bytes = Array("220-x\r\n220 y\r\n250 z\r\n550 5.1.1 no such user\r\n".utf8)
    let whole = try replies(String(decoding: bytes, as: UTF8.self))
    var random = SplitMix64(seed: 5)
    for _ in 0..<100 {
      var parser = SMTPReplyParser()
      var found: [SMTPReply] = []
      var at = 0
      while at < bytes.count {
        let end = min(bytes.count, at + Int.random(in: 1...9, using: &random))
        found += try parser.take(bytes[at..<end])
        at = end
      }
      #expect(found == whole && !parser.isInside)
    }
  }

  @Test(
    "what no mail server says",
    arguments: [
      "hello\r\n", "\r\n", "2x0 a\r\n", "25\r\n", "250/a\r\n", "099 a\r\n", "650 a\r\n", "250-a\r\n251 b\r\n",
      "HTTP/1.1 400 Bad\r\n",
    ])
  func faults(_ text: String) {
    #expect(throws: SMTPReplyParser.ParseError.self) { _ = try replies(text) }
  }

  @Test("lines and replies have bounds")
  func bounds() {
    #expect(throws: SMTPReplyParser.ParseError.lineTooLong) { _ = try replies("250 " + String(repeating: "x", count: 5000)) }
    #expect(throws: SMTPReplyParser.ParseError.tooManyLines) { _ = try replies(String(repeating: "250-a\r\n", count: 200)) }
  }

  @Test("a server's features")
  func features() {
    let features = SMTPFeatures(
      SMTPReply(
        code: 250, lines: ["mx hello STARTTLS", "SIZE 1000", "starttls", "AUTH PLAIN login", "AUTH=CRAM-MD5", "8BITMIME"]))
    #expect(features.startsTLS && features.sizeMax == 1000 && features.mechanisms == ["PLAIN", "LOGIN", "CRAM-MD5"])
    #expect(!SMTPFeatures(SMTPReply(code: 250, lines: ["STARTTLS", "SIZE 0"])).startsTLS)
  }

  @Test("lines that begin with a dot get a second, and the end is a dot alone")
  func stuffing() {
    for (text, expected) in [
      ("a\r\n", "a\r\n.\r\n"), ("a", "a\r\n.\r\n"), (".\r\n..b\r\n", "..\r\n...b\r\n.\r\n"), ("", ".\r\n"),
      ("a.b\r\n", "a.b\r\n.\r\n"),
    ] {
      #expect(String(decoding: SMTPConnection.stuffed(Array(text.utf8)), as: UTF8.self) == expected)
    }
  }
}
