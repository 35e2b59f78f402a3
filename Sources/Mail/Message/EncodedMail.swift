import Crypto
import TextFormats
import TreeModel

/// A message as it goes over the wire (RFC 5322, RFC 2045): lines that end in CR LF, all of them ASCII and short.
package struct EncodedMail: Sendable, Hashable {
  /// The address that bounces go to.
  let sender: String
  /// The address it is for.
  let recipient: String
  /// Headers and body; not yet stuffed with dots.
  let bytes: [UInt8]

  /// - `key`: the message's own, the same whenever it is sent again: makes the `Message-ID`.
  /// - `time`: milliseconds since 1970, for the `Date`.
  package init(_ message: MailMessage, key: String, time: Int64) {
    sender = message.from.address
    recipient = message.to.address
    // Keys may hold what nobody else should see; their digest holds nothing.
    let digest = Hex.encode(SHA256.hash(data: Array(key.utf8)).prefix(16))
    var headers = [
      "Date: \(CalendarTime(milliseconds: max(0, time)).mailDate)", Self.header("From", address: message.from),
      Self.header("To", address: message.to),
      "Subject: \(HeaderText.unstructured(message.subject))", "Message-ID: <\(digest)@\(message.from.domain)>",
      "MIME-Version: 1.0", "Auto-Submitted: auto-generated",
    ]
    if let replyTo = message.replyTo { headers.append(Self.header("Reply-To", address: replyTo)) }
    if let link = message.unsubscribe {
      headers.append("List-Unsubscribe: <\(link)>")
      headers.append("List-Unsubscribe-Post: List-Unsubscribe=One-Click")
    }
    var text = headers.joined(separator: "\r\n") + "\r\n"
    if let html = message.html {
      // No line of a quoted-printable part can begin with this: an equals sign is followed by digits there.
      let boundary = "=_\(digest)"
      text += "Content-Type: multipart/alternative;\r\n boundary=\"\(boundary)\"\r\n\r\n"
      for (type, part) in [("plain", message.text), ("html", html)] {
        text += "--\(boundary)\r\n" + Self.part(type, text: part)
      }
      text += "--\(boundary)--\r\n"
    } else {
      text += Self.part("plain", text: message.text)
    }
    bytes = Array(text.utf8)
  }

  private static func part(_ type: String, text: String) -> String {
    "Content-Type: text/\(type); charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
      + QuotedPrintable.encode(text) + "\r\n"
  }

  private static func header(_ name: String, address: MailAddress) -> String {
    guard let shown = address.name else { return "\(name): \(address.address)" }
    return "\(name): \(HeaderText.phrase(shown))\r\n <\(address.address)>"
  }
}

/// Texts of people in headers, which are ASCII (RFC 2047).
enum HeaderText {
  /// Bytes of text that one encoded word holds: with what is around it, it stays below 75 characters.
  private static let wordBytesMax = 42
  private static let plainMax = 60

  /// A subject.
  static func unstructured(_ text: String) -> String {
    isPlain(text) ? text : encoded(text)
  }

  /// A name before an address.
  static func phrase(_ text: String) -> String {
    guard isPlain(text) else { return encoded(text) }
    var quoted = "\""
    for character in text {
      if character == "\"" || character == "\\" { quoted.append("\\") }
      quoted.append(character)
    }
    return quoted + "\""
  }

  /// Whether the text can stand as it is: short, printable, and nothing that looks encoded.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.count <= plainMax && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && !text.contains("=?")
      && text.first != " " && text.last != " "
  }

  /// Encoded words, each on a line of its own, none of which ends inside a character.
  private static func encoded(_ text: String) -> String {
    var words: [[UInt8]] = [[]]
    for scalar in text.withoutControls.unicodeScalars {
      let bytes = Array(String(scalar).utf8)
      if words[words.count - 1].count + bytes.count > wordBytesMax { words.append([]) }
      words[words.count - 1] += bytes
    }
    return words.map { "=?UTF-8?B?\(Base64.encode($0, as: .standard))?=" }.joined(separator: "\r\n ")
  }
}

/// Text as lines of at most 76 characters of ASCII (RFC 2045 §6.7).
enum QuotedPrintable {
  private static let lineMax = 76

  /// The encoded text; line ends of every kind become CR LF.
  static func encode(_ text: String) -> String {
    var result: [UInt8] = []
    var width = 0
    func put(_ piece: [UInt8]) {
      // The last place of a line is for the sign that it goes on.
      if width + piece.count > lineMax - 1 {
        result += [UInt8(ascii: "="), 13, 10]
        width = 0
      }
      result += piece
      width += piece.count
    }
    let bytes = Array(text.utf8)
    for (index, byte) in bytes.enumerated() {
      let next = index + 1 < bytes.count ? bytes[index + 1] : 10
      switch byte {
      case 13 where next == 10 && index + 1 < bytes.count: break
      case 10, 13:
        result += [13, 10]
        width = 0
      // Blanks at the end of a line are lost on the way.
      case 32, 9: put(next == 10 || next == 13 ? escape(byte) : [byte])
      case 33..<61, 62..<127: put([byte])
      default: put(escape(byte))
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func escape(_ byte: UInt8) -> [UInt8] {
    [UInt8(ascii: "="), Hex.digit(byte >> 4, uppercase: true), Hex.digit(byte & 15, uppercase: true)]
  }
}
