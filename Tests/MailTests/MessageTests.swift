import MailContent
import TestSupport
import Testing
import TextFormats
import TreeModel

@testable import Mail

@Suite struct MessageTests {
  private let sender = try? MailAddress(parsing: "Hunt <noreply@hunt.example>")

  private func encoded(_ order: MailOrder, key: String = "ns/k") throws -> String {
    let mail = EncodedMail(try MailMessage(order, from: try #require(sender)), key: key, time: 1_795_314_005_000)
    return String(decoding: mail.bytes, as: UTF8.self)
  }

  static let addresses: [(String, String?, String)] = [
    ("bob@example.com", nil, "bob@example.com"), (" Bob  <bob@example.com>", "Bob", "bob@example.com"),
    ("\"Bob, \\\"B\\\"\" <b.o+x@a-b.c>", "Bob, \"B\"", "b.o+x@a-b.c"), ("<B@Mail.Local>", nil, "B@Mail.Local"),
    ("Zoë 😀 <z@e.org>", "Zoë 😀", "z@e.org"), ("a\r\nBcc: x <z@e.org>", "a  Bcc: x", "z@e.org"),
  ]

  @Test("addresses, with names and without", arguments: addresses)
  func address(_ text: String, _ name: String?, _ address: String) throws {
    let found = try MailAddress(parsing: text)
    #expect(found.name == name && found.address == address, "\(found)")
  }

  @Test(
    "what is no address",
    arguments: [
      "", "bob", "@b.c", "b@", "b@c@d", "b..c@d.e", ".b@d.e", "b@-d.e", "b@d..e", "b c@d.e", "b@d.e\r\nRCPT TO:", "<>",
      "Bob <bob>", "zoë@e.org", "b@localhost", "b@127.0.0.1", "\"b\"@d.e", "b@exämple.org", "<a@b.c> <d@e.f", "a@b.c,d@e.f",
      "\(String(repeating: "x", count: 65))@d.e",
    ])
  func noAddress(_ text: String) {
    #expect(throws: MailAddressError.self) { try MailAddress(parsing: text) }
  }

  @Test("a mail of text and HTML, whole")
  func whole() throws {
    let order = MailOrder(
      kind: .invite, to: "Bob <bob@example.com>", subject: "Hello", text: "a = b\n.dot\n", html: "<p>ü</p>",
      fromName: "Ann \"A\"", replyTo: "ann@example.com", unsubscribe: "https://h/u?t=1")
    let lines = try encoded(order).split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
    let id = try #require(lines.first { $0.hasPrefix("Message-ID: <") }?.dropFirst(13).prefix { $0 != "@" })
    #expect(id.utf8.count == 32)
    #expect(
      lines == [
        "Date: Sat, 21 Nov 2026 19:00:05 +0000".replacing(
          "Sat, 21 Nov 2026 19:00:05", with: CalendarTime(milliseconds: max(0, 1_795_314_005_000)).mailDate.dropLast(6)),
        "From: \"Ann \\\"A\\\"\"", " <noreply@hunt.example>", "To: \"Bob\"", " <bob@example.com>", "Subject: Hello",
        "Message-ID: <\(id)@hunt.example>", "MIME-Version: 1.0", "Auto-Submitted: auto-generated",
        "Reply-To: ann@example.com", "List-Unsubscribe: <https://h/u?t=1>",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click", "Content-Type: multipart/alternative;", " boundary=\"=_\(id)\"",
        "",
        "--=_\(id)", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: quoted-printable", "", "a =3D b",
        ".dot", "", "--=_\(id)", "Content-Type: text/html; charset=utf-8", "Content-Transfer-Encoding: quoted-printable", "",
        "<p>=C3=BC</p>", "--=_\(id)--", "",
      ])
  }

  @Test("the same key makes the same Message-ID, another key another")
  func messageID() throws {
    let order = MailOrder(kind: .signIn, to: "b@c.d", subject: "s", text: "t")
    #expect(try encoded(order, key: "a") == encoded(order, key: "a"))
    #expect(try encoded(order, key: "a") != encoded(order, key: "b"))
    #expect(try !encoded(order, key: "secret-code").contains("secret-code"))
  }

  @Test("nothing in an order becomes a header, a line of its own, or another recipient")
  func injection() throws {
    var random = SplitMix64(seed: 11)
    let alphabet: [Character] = [
      "\r", "\n", "\r\n", ":", "B", "c", " ", "<", ">", "\"", "\\", "=", "?", "ü", "\u{2028}", "\0", ",",
    ]
    for _ in 0..<300 {
      let text = String((0..<20).map { _ in alphabet.randomElement(using: &random)! })
      let order = MailOrder(kind: .invite, to: "b@c.d", subject: text, text: text, html: text, fromName: text)
      let mail = try encoded(order)
      let head = mail.prefix(upTo: try #require(mail.firstRange(of: "\r\n\r\n")).lowerBound)
      let names = head.split(separator: "\r\n").filter { $0.first != " " }.map { $0.prefix { $0 != ":" } }
      #expect(
        names == ["Date", "From", "To", "Subject", "Message-ID", "MIME-Version", "Auto-Submitted", "Content-Type"], "\(head)")
      #expect(mail.utf8.allSatisfy { $0 == 13 || $0 == 10 || (0x20..<0x7F).contains($0) })
      #expect(
        mail.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 78 && !$0.utf8.contains(13) && !$0.utf8.contains(10) })
    }
    for bad in ["http://x", "https://x y", "https://x>\r\nBcc: y", "https://\(String(repeating: "x", count: 900))"] {
      #expect {
        _ = try encoded(MailOrder(kind: .invite, to: "b@c.d", subject: "s", text: "t", unsubscribe: bad))
      } throws: { ($0 as? MailError)?.kind == .permanent }
    }
  }

  @Test("long and foreign subjects are encoded words that hold whole characters")
  func encodedWords() throws {
    for subject in [
      "Grüße 😀", String(repeating: "длинная тема ", count: 12), String(repeating: "x", count: 200), "=?UTF-8?Q?x?=", " a ",
    ] {
      let text = HeaderText.unstructured(subject)
      let words = text.split(separator: "\r\n ")
      var bytes: [UInt8] = []
      for word in words {
        #expect(word.hasPrefix("=?UTF-8?B?") && word.hasSuffix("?=") && word.utf8.count <= 75)
        let part = try #require(Base64.decode(word.dropFirst(10).dropLast(2).utf8))
        #expect(String(validating: part, as: UTF8.self) != nil)
        bytes += part
      }
      #expect(String(decoding: bytes, as: UTF8.self) == subject)
    }
    #expect(HeaderText.unstructured("Plain: text, \"quoted\"") == "Plain: text, \"quoted\"")
  }

  /// What a reader makes of quoted-printable text (RFC 2045 §6.7), as simply as can be.
  private func decode(_ text: String) -> String {
    var bytes: [UInt8] = []
    let source = Array(text.replacing("=\r\n", with: "").utf8)
    var at = 0
    while at < source.count {
      if source[at] == UInt8(ascii: "="), at + 2 < source.count,
        let byte = UInt8(String(decoding: source[(at + 1)...(at + 2)], as: UTF8.self), radix: 16)
      {
        bytes.append(byte)
        at += 3
      } else {
        bytes.append(source[at])
        at += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("quoted-printable gives back what went in, in short lines")
  func quotedPrintable() throws {
    var random = SplitMix64(seed: 3)
    let alphabet: [Character] = ["a", "=", " ", "\t", "\n", "ü", "😀", ".", "-", "x", "y"]
    for length in 0..<200 {
      let text = String((0..<length).map { _ in alphabet.randomElement(using: &random)! })
      let encoded = QuotedPrintable.encode(text)
      #expect(decode(encoded) == text.replacing("\n", with: "\r\n"))
      for line in encoded.split(separator: "\r\n", omittingEmptySubsequences: false) {
        #expect(line.utf8.count <= 76 && line.last != " " && line.last != "\t")
      }
    }
    #expect(QuotedPrintable.encode("a\r\nb\rc\n") == "a\r\nb\r\nc\r\n")
  }

  static let dates: [(Int64, String)] = [
    (0, "Thu, 01 Jan 1970 00:00:00 +0000"), (951_782_399_000, "Mon, 28 Feb 2000 23:59:59 +0000"),
    (951_868_800_000, "Wed, 01 Mar 2000 00:00:00 +0000"), (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 +0000"),
    (1_798_761_599_999, "Thu, 31 Dec 2026 23:59:59 +0000"), (4_107_542_400_000, "Mon, 01 Mar 2100 00:00:00 +0000"),
  ]

  @Test("dates", arguments: dates)
  func date(_ time: Int64, _ expected: String) {
    #expect(CalendarTime(milliseconds: max(0, time)).mailDate == expected)
  }
}
