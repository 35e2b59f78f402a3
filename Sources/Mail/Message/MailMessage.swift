public import MailContent

/// A message for one recipient, before it is encoded.
public struct MailMessage: Sendable, Hashable {
  /// Who it is from.
  public let from: MailAddress
  /// Who it is for.
  public let to: MailAddress
  /// Where an answer goes; nil for the sender.
  public let replyTo: MailAddress?
  /// One line.
  public let subject: String
  /// The text that every reader can show.
  public let text: String
  /// The same as HTML; nil if there is only text.
  public let html: String?
  /// An `https` address that takes the recipient off the list; nil where nobody is on one.
  public let unsubscribe: String?

  /// What an order asks for.
  ///
  /// - Parameter sender: who it is from where the order does not say.
  /// - Throws: a permanent ``MailFailure`` for addresses that are none.
  public init(_ order: MailOrder, from sender: MailAddress) throws(MailFailure) {
    do throws(MailAddress.Fault) {
      let from = try order.from.map { (text) throws(MailAddress.Fault) in try MailAddress(parsing: text) } ?? sender
      self.from = try MailAddress(from.address, name: order.fromName ?? from.name)
      to = try MailAddress(parsing: order.to)
      replyTo = try order.replyTo.map { (text) throws(MailAddress.Fault) in try MailAddress(parsing: text) }
    } catch {
      throw MailFailure(.permanent, error.message)
    }
    if let link = order.unsubscribe {
      let isLink =
        link.hasPrefix("https://") && link.utf8.count <= 900
        && link.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") }
      guard isLink else { throw MailFailure(.permanent, "\"unsubscribe\" must be an https address of at most 900 characters.") }
    }
    subject = order.subject.withoutControls
    text = order.text
    html = order.html
    unsubscribe = order.unsubscribe
  }
}
