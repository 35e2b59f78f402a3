/// What a mail server answers: a number, and text for people (RFC 5321 §4.2).
struct SMTPReply: Sendable, Hashable {
  let code: Int
  let lines: [String]

  /// The number and the text on one line; a server's text is not trusted to be printable.
  var summary: String {
    let text = lines.joined(separator: " ").withoutControls
    return "\(code) \(text.prefix(400))"
  }
}
