/// What the built-in mails say in one language; the layout is the same in all.
struct TemplatePhrases: Sendable {
  /// One kind of mail.
  struct Letter: Sendable {
    let subject: String
    let body: String
    /// What stands on the button.
    let action: String
    /// What to do if the mail is a surprise; nil if nothing.
    var closing: String?
  }

  /// Above the body; uses `displayName`.
  let greeting: String
  /// Below the body of a mail that the reader did not have to ask for.
  let ignore: String
  let letters: [MailKind: Letter]

  /// The template of a kind, put together.
  func template(_ kind: MailKind) throws(TemplateFault) -> MailTemplate {
    guard let letter = letters[kind] else { throw TemplateFault(line: 1, message: "There are no words for \(kind.rawValue).") }
    let hello = kind == .invite ? "" : greeting
    let closing = letter.closing ?? ignore
    let start = hello.isEmpty ? "" : hello + "\n\n"
    let text = "\(start)\(letter.body)\n\n{{link}}\n\n\(closing)\n\n{{appName}}\n"
    return try MailTemplate(kind: kind, subject: letter.subject, text: text, html: html(hello, letter, closing))
  }

  private func html(_ hello: String, _ letter: Letter, _ closing: String) -> String {
    let paragraphs = ([hello].filter { !$0.isEmpty } + letter.body.split(separator: "\n\n").map(String.init))
      .map { "<p>\(Self.markup($0))</p>" }.joined(separator: "\n")
    return """
      <!DOCTYPE html>
      <html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
      <body style="margin:0;padding:24px;font:16px/1.5 sans-serif;color:#222;background:#fff">
      <div style="max-width:34em;margin:0 auto">
      \(paragraphs)
      <p><a href="{{link}}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#0b57d0;\
      color:#fff;text-decoration:none">\(Self.markup(letter.action))</a></p>
      <p style="font-size:13px;color:#555;word-break:break-all">{{link}}</p>
      <p style="font-size:13px;color:#555">\(Self.markup(closing))<br>{{appName}}</p>
      </div></body></html>

      """
  }

  /// The program's own words as markup; placeholders stay.
  private static func markup(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\n": result += "<br>"
      default: result.append(character)
      }
    }
    return result
  }

  /// By locale.
  static let all: [String: TemplatePhrases] = [
    "en": .english, "de": .german, "es": .spanish, "fr": .french, "ja": .japanese,
  ]
}
