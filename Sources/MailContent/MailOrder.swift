import TreeModel

/// A mail to be sent, as a service writes it into the outbox: the payload of the transport `mail`.
///
/// ```swift
/// request.rows.outbox.append(
///   OutboxRecord(
///     key: "accounts/reset/\(code.id)", outlet: MailOrder.outlet, payload: order.payload, cause: nil, state: .waiting,
///     attempts: 0, nextAttemptAt: 0, lastError: nil, createdAt: now))
/// ```
/// What became of it stands in the same row: `waiting`, `delivered`, or `dead` with the reason.
package struct MailOrder: Sendable, Hashable {
  /// The name of the outlet that takes orders.
  package static let outlet = "mail"
  /// Bytes that a payload may have.
  package static let bytesMax = 1 << 20

  /// What the mail is for; shown in logs, where addresses and texts are not.
  package var kind: MailKind
  /// Who it is for: `bob@example.com`, or `Bob <bob@example.com>`.
  package var to: String
  /// Who it is from, whole; nil for the address of the configuration.
  package var from: String?
  /// The name that is shown with the configuration's address; nil for the configuration's own.
  package var fromName: String?
  /// Where an answer goes; nil for the sender.
  package var replyTo: String?
  /// One line.
  package var subject: String
  /// The text that every reader can show.
  package var text: String
  /// The same as HTML; nil if there is only text.
  package var html: String?
  /// An `https` address that takes the recipient off the list with one POST (RFC 8058); nil where nobody is on a list.
  package var unsubscribe: String?

  /// An order with words that were made elsewhere.
  package init(
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
  package init(kind: MailKind, to: String, words: MailTemplate.Words, fromName: String? = nil, unsubscribe: String? = nil) {
    self.init(
      kind: kind, to: to, subject: words.subject, text: words.text, html: words.html, fromName: fromName,
      unsubscribe: unsubscribe)
  }

  /// The order as JSON text.
  package var payload: String { Self.text(members(withText: true)) }

  /// What the outbox keeps of the order once it was delivered: the texts, with the codes in them, are gone.
  package var remainder: String { Self.text(members(withText: false)) }

  /// Reads a payload.
  ///
  /// - Throws: ``MailOrderError`` for what can never be sent: no JSON, a part that is missing, one of another type.
  package init(payload: String) throws(MailOrderError) {
    guard payload.utf8.count <= Self.bytesMax else {
      throw MailOrderError("The payload is larger than \(Self.bytesMax >> 20) MB.")
    }
    let json: JSON
    do {
      json = try JSONParser.parse(Array(payload.utf8))
    } catch {
      throw MailOrderError("The payload is no JSON: \(error)")
    }
    guard json.object != nil else { throw MailOrderError("The payload must be a JSON object.") }
    let name = try Self.required("kind", in: json)
    guard let kind = MailKind(rawValue: name) else {
      let kinds = MailKind.allCases.map(\.rawValue).joined(separator: ", ")
      throw MailOrderError("\"kind\" must be one of \(kinds), not \"\(name)\".")
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

  private static func required(_ name: String, in json: JSON) throws(MailOrderError) -> String {
    guard let value = try optional(name, in: json), !value.isEmpty else {
      throw MailOrderError("\"\(name)\" must be a text that is not empty.")
    }
    return value
  }

  private static func optional(_ name: String, in json: JSON) throws(MailOrderError) -> String? {
    guard let value = json[name], !value.isNull else { return nil }
    guard let text = value.string else { throw MailOrderError("\"\(name)\" must be a text.") }
    return text
  }
}

/// What a mail is for: decides its template, and stands in the log and the outbox instead of its text.
package enum MailKind: String, Sendable, Hashable, CaseIterable {
  /// Confirms that an address is the player's (VERIFY_EMAIL of https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/sendOobCode).
  case verifyEmail
  /// Lets the player choose another password (PASSWORD_RESET).
  case resetPassword
  /// Signs the player in by a link (EMAIL_SIGNIN).
  case signIn
  /// Confirms the address that an account is to have from now on (VERIFY_AND_CHANGE_EMAIL).
  case verifyAndChangeEmail
  /// Tells the former address that it was replaced, with a link that takes it back (RECOVER_EMAIL).
  case recoverEmail
  /// Invites somebody to the game.
  case invite
  /// Anything else: the words are the sender's own.
  case notice

  /// The kinds that have templates.
  package static let templated: [MailKind] = allCases.filter { $0 != .notice }

  /// The placeholders that its templates may use.
  ///
  /// `appName` and `link` are always there; a value that is not given is empty, which ``TemplateText`` can ask for.
  package var placeholders: [String] {
    switch self {
    case .verifyEmail, .resetPassword, .signIn: ["appName", "displayName", "email", "link"]
    case .verifyAndChangeEmail: ["appName", "displayName", "link", "newEmail"]
    case .recoverEmail: ["appName", "displayName", "email", "link", "newEmail"]
    case .invite: ["appName", "inviter", "link", "message"]
    case .notice: []
    }
  }
}

/// Why an order can never be sent.
package struct MailOrderError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, and what to do.
  package let message: String

  init(_ message: String) {
    self.message = message
  }

  package var description: String { message }
}
