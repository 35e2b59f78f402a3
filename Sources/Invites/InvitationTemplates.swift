import MailContent
import TextFormats

/// What one campaign says in one language, channel by channel.
struct InvitationTemplates: Sendable {
  /// What the texts may name.
  static let placeholders = ["inviter", "appName", "message", "link", "image"]

  /// By name: what each may be.
  static let names = ["subject", "text", "html", "sms", "share", "title", "pitch"]

  /// The texts as they were given, by ``names``.
  let sources: [String: String]
  private let subject: TemplateText
  private let text: TemplateText
  private let html: TemplateText
  private let sms: TemplateText
  private let share: TemplateText
  private let title: TemplateText
  private let pitch: TemplateText

  /// Texts of one's own over those of a language that comes with the program.
  init(_ sources: [String: String], over base: InvitationTemplates?) throws {
    self.sources = sources
    func read(_ name: String, _ form: TemplateText.Form, _ fallback: TemplateText?) throws -> TemplateText {
      guard let source = sources[name] else {
        guard let fallback else { throw InvitationError.invalid("The template \(name) is missing.") }
        return fallback
      }
      do {
        return try TemplateText(source, form: form, placeholders: Self.placeholders)
      } catch {
        throw InvitationError.invalid("The template \(name), line \(error.line): \(error.message)")
      }
    }
    subject = try read("subject", .line, base?.subject)
    text = try read("text", .text, base?.text)
    html = try read("html", .html, base?.html)
    sms = try read("sms", .text, base?.sms)
    share = try read("share", .text, base?.share)
    title = try read("title", .line, base?.title)
    pitch = try read("pitch", .text, base?.pitch)
  }

  /// What a game shows above the channels: why to invite.
  func screen(_ values: [String: String]) -> (title: String, text: String) {
    (title.rendered(values), pitch.rendered(values))
  }

  /// The longest text message: three parts of an SMS.
  static let smsMax = 459

  func content(_ channel: InvitationChannel, values: [String: String], partner: String?) -> InvitationContent {
    let link = values["link"] ?? ""
    switch channel {
    case .copy: return InvitationContent(channel: .copy, subject: nil, body: nil, html: nil, link: link, uri: nil)
    case .sms:
      let body = shortened(sms, values: values)
      return InvitationContent(
        channel: .sms, subject: nil, body: body, html: nil, link: link, uri: "sms:?&body=\(URIText.encode(body))")
    case .share:
      return InvitationContent(
        channel: .share, subject: nil, body: shortened(share, values: values), html: nil, link: link, uri: nil)
    case .partner:
      let body = shortened(share, values: values)
      let uri = partner.map { partner in
        partner.replacing("{{link}}", with: URIText.encode(link)).replacing("{{message}}", with: URIText.encode(body))
      }
      return InvitationContent(channel: .partner, subject: nil, body: body, html: nil, link: link, uri: uri)
    case .email:
      let (line, body) = (subject.rendered(values), text.rendered(values))
      return InvitationContent(
        channel: .email, subject: line, body: body, html: html.rendered(values), link: link,
        uri: "mailto:?subject=\(URIText.encode(line))&body=\(URIText.encode(body))")
    }
  }

  /// A short text that keeps its link: what people wrote goes first, then their name is cut.
  private func shortened(_ template: TemplateText, values: [String: String]) -> String {
    var values = values
    let whole = template.rendered(values)
    guard whole.utf16.count > Self.smsMax else { return whole }
    values["message"] = ""
    values["inviter"] = values["inviter"].map { String($0.prefix(20)) }
    return template.rendered(values)
  }

  // MARK: What comes with the program

  /// By language.
  static let builtIn: [String: InvitationTemplates] = {
    var all: [String: InvitationTemplates] = [:]
    for words in InvitationPhrases.all {
      // The program's own texts name known placeholders only; a test reads them all.
      all[words.language] = try? InvitationTemplates(words.sources, over: nil)
    }
    return all
  }()
}

/// Texts in URIs of composers (RFC 6068): everything but letters, digits and `-._~` is encoded, line ends as CR LF.
enum URIText {
  static func encode(_ text: String) -> String {
    // By bytes: a CR LF is one character.
    text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { PercentEncoding.encode(Substring($0)) }.joined(separator: "%0D%0A")
  }
}
