import TreeModel

/// What a room writes into the outbox to have a mail sent: the payload of the outlet `mail`.
///
/// ```swift
/// request.outbox.append(
///   OutboxRecord(
///     key: "accounts/reset/\(code.id)", outlet: MailOrder.outlet, payload: order.payload, cause: nil, state: .waiting,
///     attempts: 0, nextAttemptAt: 0, lastError: nil, createdAt: now))
/// ```
/// What became of it stands in the same row: `waiting`, `delivered`, or `dead` with the reason.
public struct MailOrder: Sendable, Hashable {
  /// The name of the outlet that takes orders.
  public static let outlet = "mail"
  /// Bytes that a payload may have.
  public static let bytesMax = 1 << 20

  /// What the mail is for; shown in logs, where addresses and texts are not.
  public var kind: MailKind
  /// Who it is for: `bob@example.com`, or `Bob <bob@example.com>`.
  public var to: String
  /// Who it is from, whole; nil for the address of the configuration.
  public var from: String?
  /// The name that is shown with the configuration's address; nil for the configuration's own.
  public var fromName: String?
  /// Where an answer goes; nil for the sender.
  public var replyTo: String?
  /// One line.
  public var subject: String
  /// The text that every reader can show.
  public var text: String
  /// The same as HTML; nil if there is only text.
  public var html: String?
  /// An `https` address that takes the recipient off the list with one POST (RFC 8058); nil where nobody is on a list.
  public var unsubscribe: String?

  /// An order with words that were made elsewhere.
  public init(
    kind: MailKind, to: String, subject: String, text: String, html: String? = nil, from: String? = nil,
    fromName: String? = nil, replyTo: String? = nil, unsubscribe: String? = nil
  ) {
    self.kind = kind
    self.to = to
    self.from = from
    self.fromName = fromName
    self.replyTo = replyTo
    self.subject = subject
    self.text = text
    self.html = html
    self.unsubscribe = unsubscribe
  }

  /// An order with the words of a template.
  public init(kind: MailKind, to: String, words: MailTemplate.Words, fromName: String? = nil, unsubscribe: String? = nil) {
    self.init(
      kind: kind, to: to, subject: words.subject, text: words.text, html: words.html, fromName: fromName,
      unsubscribe: unsubscribe)
  }

  /// The order as JSON text.
  public var payload: String { Self.text(members(withText: true)) }

  /// What the outbox keeps of the order once it was delivered: the texts, with the codes in them, are gone.
  public var remainder: String { Self.text(members(withText: false)) }

  /// Reads a payload.
  ///
  /// - Throws: ``MailOrderFault`` for what can never be sent: no JSON, a part that is missing, one of another type.
  public init(payload: String) throws(MailOrderFault) {
    guard payload.utf8.count <= Self.bytesMax else {
      throw MailOrderFault("The payload is larger than \(Self.bytesMax >> 20) MB.")
    }
    let json: JSON
    do {
      json = try JSONParser.parse(Array(payload.utf8))
    } catch {
      throw MailOrderFault("The payload is no JSON: \(error)")
    }
    guard json.object != nil else { throw MailOrderFault("The payload must be a JSON object.") }
    let name = try Self.required("kind", in: json)
    guard let kind = MailKind(rawValue: name) else {
      let kinds = MailKind.allCases.map(\.rawValue).joined(separator: ", ")
      throw MailOrderFault("\"kind\" must be one of \(kinds), not \"\(name)\".")
    }
    self.init(
      kind: kind, to: try Self.required("to", in: json), subject: try Self.required("subject", in: json),
      text: try Self.required("text", in: json), html: try Self.optional("html", in: json),
      from: try Self.optional("from", in: json), fromName: try Self.optional("fromName", in: json),
      replyTo: try Self.optional("replyTo", in: json), unsubscribe: try Self.optional("unsubscribe", in: json))
  }

  private func members(withText: Bool) -> [JSON.Member] {
    let all: [(String, String?)] = [
      ("kind", kind.rawValue), ("to", to), ("from", from), ("fromName", fromName), ("replyTo", replyTo), ("subject", subject),
      ("text", withText ? text : nil), ("html", withText ? html : nil), ("unsubscribe", withText ? unsubscribe : nil),
    ]
    return all.compactMap { name, value in value.map { JSON.Member(key: name, value: .string($0)) } }
  }

  private static func text(_ members: [JSON.Member]) -> String {
    var writer = JSONWriter()
    writer.write(.object(members))
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private static func required(_ name: String, in json: JSON) throws(MailOrderFault) -> String {
    guard let value = try optional(name, in: json), !value.isEmpty else {
      throw MailOrderFault("\"\(name)\" must be a text that is not empty.")
    }
    return value
  }

  private static func optional(_ name: String, in json: JSON) throws(MailOrderFault) -> String? {
    guard let value = json[name], !value.isNull else { return nil }
    guard let text = value.string else { throw MailOrderFault("\"\(name)\" must be a text.") }
    return text
  }
}
