import TextFormats

/// What an invitation says on one channel; a channel without a subject has none, and copying a link copies a link.
package struct InvitationContent: Sendable, Hashable {
  /// For which channel it was made.
  package let channel: InvitationChannel
  /// One line, of mails only.
  package let subject: String?
  /// The text that must be read.
  package let body: String?
  /// The same as HTML, for mails.
  package let html: String?
  /// What all of it is about.
  package let link: String
  /// What opens the channel's composer with all of it: `mailto:`, `sms:`, the partner's own.
  package let uri: String?

  /// The same with a picture at its end that tells when it was opened.
  package func watched(by picture: String) -> InvitationContent {
    let image = "<img src=\"\(picture)\" alt=\"\" width=\"1\" height=\"1\">"
    let watched = html.map { $0.replacing("</body>", with: image + "</body>", maxReplacements: 1) }
    return InvitationContent(channel: channel, subject: subject, body: body, html: watched, link: link, uri: uri)
  }

  /// The same with the way off the list below it, for mails that the server sends: to be seen, not only in a header.
  func unsubscribable(by address: String, words: String) -> InvitationContent {
    let text = body.map { "\($0)\n\(words)\n\(address)\n" }
    let link = """
      <p style="margin:16px auto 0;max-width:32em;font:13px/1.5 sans-serif;color:#5d6068"><a href="\(address)" \
      style="color:#5d6068">\(words)</a></p>
      """
    let page = html.map { html in
      html.contains("</body>") ? html.replacing("</body>", with: link + "</body>", maxReplacements: 1) : html + link
    }
    return InvitationContent(channel: channel, subject: subject, body: text, html: page, link: self.link, uri: uri)
  }
}

/// A way to pass an invitation on.
package enum InvitationChannel: String, Sendable, Hashable, CaseIterable {
  /// A subject, a long text, HTML.
  case email
  /// A short text; no subject, no image.
  case sms
  /// The link and nothing else.
  case copy
  /// A short text with the link, for the system's own sharing.
  case share
  /// A link into another app that knows what to do with it; off unless it is configured.
  case partner

  /// What a button says.
  ///
  /// - Parameter locales: what the reader reads, the best first; English if nothing is known in any.
  package func name(in locales: [String]) -> String {
    let names = InvitationPhrases.chosen(from: locales).channels
    return switch self {
    case .email: names.email
    case .sms: names.sms
    case .copy: names.copy
    case .share: names.share
    case .partner: names.partner
    }
  }

  /// What a button shows: a name that icon sets share.
  package var icon: String {
    switch self {
    case .email: "mail"
    case .sms: "message"
    case .copy: "link"
    case .share: "share"
    case .partner: "app"
    }
  }

  /// Whether it can be used on a device.
  ///
  /// - Parameters:
  ///   - device: `iphone`, `ipad`, `android`, `desktop`.
  ///   - canSendMail: whether a mail account is set up there.
  package func isAvailable(on device: String, canSendMail: Bool) -> Bool {
    switch self {
    case .email: canSendMail
    case .sms: device == "iphone" || device == "android"
    case .copy: true
    case .share: device != "desktop"
    case .partner: device != "desktop"
    }
  }
}
