/// A message for one recipient, before it is encoded.
public struct MailMessage: Sendable, Hashable {
  /// Who it is from: an address, with a name or without.
  public let from: String
  /// Who it is for: an address.
  public let to: String
  /// The subject; one line.
  public let subject: String
  /// The text that every reader can show.
  public let text: String
  /// The same as HTML; nil if there is only text.
  public let html: String?

  public init(from: String, to: String, subject: String, text: String, html: String? = nil) {
    self.from = from
    self.to = to
    self.subject = subject
    self.text = text
    self.html = html
  }
}
