import Crypto

/// A message as it goes over the wire (RFC 5322, RFC 2045): lines that end in CR LF, all of them ASCII and short.
public struct EncodedMail: Sendable, Hashable {
  /// The address that bounces go to.
  let sender: String
  /// The address it is for.
  let recipient: String
  /// Headers and body; not yet stuffed with dots.
  let bytes: [UInt8]

  /// - Parameters:
  ///   - key: the message's own, the same whenever it is sent again: makes the `Message-ID`.
  ///   - time: milliseconds since 1970, for the `Date`.
  public init(_ message: MailMessage, key: String, time: Int64) {
    sender = message.from.address
    recipient = message.to.address
    // Keys may hold what nobody else should see; their digest holds nothing.
    let digest = SHA256.hash(data: Array(key.utf8)).prefix(16).map { Self.hex($0) }.joined()
    var headers = [
      "Date: \(MailDate.text(time))", Self.header("From", message.from), Self.header("To", message.to),
      "Subject: \(HeaderText.unstructured(message.subject))", "Message-ID: <\(digest)@\(message.from.domain)>",
      "MIME-Version: 1.0", "Auto-Submitted: auto-generated",
    ]
    if let replyTo = message.replyTo { headers.append(Self.header("Reply-To", replyTo)) }
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
        text += "--\(boundary)\r\n" + Self.part(type, part)
      }
      text += "--\(boundary)--\r\n"
    } else {
      text += Self.part("plain", message.text)
    }
    bytes = Array(text.utf8)
  }

  private static func part(_ type: String, _ text: String) -> String {
    "Content-Type: text/\(type); charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
      + QuotedPrintable.encode(text) + "\r\n"
  }

  private static func header(_ name: String, _ address: MailAddress) -> String {
    guard let shown = address.name else { return "\(name): \(address.address)" }
    return "\(name): \(HeaderText.phrase(shown))\r\n <\(address.address)>"
  }

  private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}
