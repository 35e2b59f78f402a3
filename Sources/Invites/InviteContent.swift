public import TreeModel

/// What an invitation says on one channel; a channel without a subject has none, and copying a link copies a link.
public struct InviteContent: Sendable, Hashable {
  /// For which channel it was made.
  public let channel: InviteChannel
  /// One line, of mails only.
  public let subject: String?
  /// The text that must be read.
  public let body: String?
  /// The same as HTML, for mails.
  public let html: String?
  /// What all of it is about.
  public let link: String
  /// What opens the channel's composer with all of it: `mailto:`, `sms:`, the partner's own.
  public let uri: String?

  /// The same with a picture at its end that tells when it was opened.
  public func watched(by picture: String) -> InviteContent {
    let image = "<img src=\"\(picture)\" alt=\"\" width=\"1\" height=\"1\">"
    let watched = html.map { $0.replacing("</body>", with: image + "</body>", maxReplacements: 1) }
    return InviteContent(channel: channel, subject: subject, body: body, html: watched, link: link, uri: uri)
  }

  /// The same with the way off the list below it, for mails that the server sends: to be seen, not only in a header.
  func unsubscribable(by address: String, _ words: String) -> InviteContent {
    let text = body.map { "\($0)\n\(words)\n\(address)\n" }
    let link = """
      <p style="margin:16px auto 0;max-width:32em;font:13px/1.5 sans-serif;color:#5d6068"><a href="\(address)" \
      style="color:#5d6068">\(words)</a></p>
      """
    let page = html.map { html in
      html.contains("</body>") ? html.replacing("</body>", with: link + "</body>", maxReplacements: 1) : html + link
    }
    return InviteContent(channel: channel, subject: subject, body: text, html: page, link: self.link, uri: uri)
  }

  /// As the API answers.
  public var json: JSON {
    var members: [JSON.Member] = [.init(key: "channel", value: .string(channel.rawValue))]
    if let subject { members.append(.init(key: "subject", value: .string(subject))) }
    if let body {
      members.append(.init(key: "body", value: .string(body)))
      if channel == .email { members.append(.init(key: "text", value: .string(body))) }
    }
    if let html { members.append(.init(key: "html", value: .string(html))) }
    members.append(.init(key: "link", value: .string(link)))
    if let uri { members.append(.init(key: "uri", value: .string(uri))) }
    return .object(members)
  }
}
