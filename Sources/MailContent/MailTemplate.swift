/// How one kind of mail reads in one language: subject, text, and HTML.
public struct MailTemplate: Sendable {
  /// A mail's words, ready to be sent.
  public struct Words: Sendable, Hashable {
    /// One line.
    public let subject: String
    /// For every reader.
    public let text: String
    /// The same as markup; nil if there is only text.
    public let html: String?

    public init(subject: String, text: String, html: String?) {
      self.subject = subject
      self.text = text
      self.html = html
    }
  }

  private let subject: TemplateText
  private let text: TemplateText
  private let html: TemplateText?

  /// A template of its three parts.
  ///
  /// - Throws: ``TemplateFault`` with the line in the part that is wrong.
  public init(kind: MailKind, subject: String, text: String, html: String?) throws(TemplateFault) {
    let names = kind.placeholders
    self.subject = try TemplateText(subject, form: .line, placeholders: names)
    self.text = try TemplateText(text, form: .text, placeholders: names)
    if let html { self.html = try TemplateText(html, form: .html, placeholders: names) } else { self.html = nil }
  }

  /// Reads the two files of a template: a text that begins with `Subject: …` and an empty line, and the HTML.
  ///
  /// - Throws: ``TemplateFault`` with the line in the file that is wrong.
  public init(kind: MailKind, textFile: String, htmlFile: String?) throws(TemplateFault) {
    // Line ends of every system: a carriage return and a line feed are one character.
    let unix = String(String.UnicodeScalarView(textFile.unicodeScalars.filter { $0 != "\r" }))
    let lines = unix.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
    guard let first = lines.first, first.lowercased().hasPrefix("subject:"), lines.count == 3, lines[1].isEmpty else {
      throw TemplateFault(line: 1, message: "The file must begin with \"Subject: …\" and an empty line.")
    }
    let names = kind.placeholders
    subject = try TemplateText(String(first.dropFirst(8).drop { $0 == " " }), form: .line, placeholders: names)
    text = try TemplateText(String(lines[2]), form: .text, placeholders: names, firstLine: 3)
    html = try htmlFile.map { (source) throws(TemplateFault) in
      try TemplateText(source, form: .html, placeholders: names)
    }
  }

  /// The words with the values in their places.
  ///
  /// - Parameter values: by placeholder (``MailKind/placeholders``); one that is missing is empty.
  public func words(_ values: [String: String]) -> Words {
    Words(subject: subject.rendered(values), text: text.rendered(values), html: html?.rendered(values))
  }
}
