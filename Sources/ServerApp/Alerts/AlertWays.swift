import AdminClient
import Crypto
import Mail
import MailContent
import NIOCore
import NIOHTTP1
import ServerConfiguration
import StorageCore
import TextFormats
import TreeModel

/// A way to a person: it does not lead through the store, which may be what the alert is about.
protocol AlertWay: Sendable {
  /// Such as `webhook`; the label in the metrics.
  var name: String { get }
  /// Tells the other side; returns when it has taken it.
  func send(_ notice: AlertNotice, at now: Int64) async throws
}

/// Posts alerts as JSON, signed.
///
/// The header `X-Doubloon-Signature` is `v1=` and the HMAC-SHA256 (RFC 2104), in hex, of `X-Doubloon-Timestamp`, a dot and the
/// body: who knows the secret knows that the alert is this server's and, by the timestamp, that nobody sends an old one again.
struct AlertWebhook: AlertWay {
  static let bytesMax = 64 << 10
  /// How long making the connection, and the answer, may take each.
  static let timeout = TimeAmount.seconds(10)

  let name = "webhook"
  private let settings: AlertSettings.Webhook
  private let project: String

  init(_ settings: AlertSettings.Webhook, project: String) {
    self.settings = settings
    self.project = project
  }

  func send(_ notice: AlertNotice, at now: Int64) async throws {
    let url = URLParts(settings.url)
    guard let scheme = url.scheme?.lowercased(), let authority = url.authority else {
      throw AlertError("\(settings) is no address.")
    }
    var writer = JSONWriter()
    writer.write(notice.json(project: project))
    let timestamp = String(now / 1000)
    let client = try AdminClient(
      server: "\(scheme)://\(authority)", token: nil, authority: settings.authority,
      limits: AdminClient.Limits(
        connectTimeout: Self.timeout, requestTimeout: Self.timeout, responseBytesMax: Self.bytesMax, idleConnectionsMax: 0))
    let target = (url.path.isEmpty ? "/" : String(url.path)) + (url.query.map { "?\($0)" } ?? "")
    let answer = try await client.send(
      .POST, target,
      headers: [
        "X-Doubloon-Timestamp": timestamp,
        "X-Doubloon-Signature": Self.signature(of: writer.bytes, at: timestamp, secret: settings.secret),
      ], body: writer.bytes)
    guard (200..<300).contains(answer.status) else {
      throw AlertError("\(settings) answered with status \(answer.status).")
    }
  }

  /// What a receiver computes, too, and compares.
  static func signature(of body: [UInt8], at timestamp: String, secret: String) -> String {
    let key = SymmetricKey(data: Array(secret.utf8))
    let code = HMAC<SHA256>.authenticationCode(for: Array(timestamp.utf8) + [UInt8(ascii: ".")] + body, using: key)
    return "v1=" + Hex.encode(Array(code))
  }
}

/// Mails alerts to some addresses, over a connection of its own: not through the outbox.
struct AlertMail: AlertWay {
  let name = "mail"
  private let client: SMTPClient
  private let mail: MailSettings
  private let recipients: [MailAddress]
  private let project: String

  /// - Throws: what the TLS library says against the configured authorities.
  init(_ mail: MailSettings, recipients: [MailAddress], project: String) throws {
    client = try SMTPClient(mail.server)
    self.mail = mail
    self.recipients = recipients
    self.project = project
  }

  func send(_ notice: AlertNotice, at now: Int64) async throws {
    let state = notice.state == .firing ? "Alert" : "Over"
    let words = notice.kind.rawValue.replacing("_", with: " ")
    let text =
      "\(notice.summary)\n\nSince \(CalendarTime(milliseconds: notice.since).readable), project \(project). "
      + (notice.state == .firing ? "This mail comes again while it goes on.\n" : "It is over.\n")
    // Of several addresses those behind one that fails are tried, too; a repetition has the same Message-ID.
    var failure: (any Error)?
    for recipient in recipients {
      do {
        let order = MailOrder(kind: .notice, to: "\(recipient)", subject: "\(state): \(words) (\(project))", text: text)
        let message = try MailMessage(order, from: mail.from)
        try await client.send(EncodedMail(message, key: "\(notice.id)/\(recipient.address)", time: now))
      } catch {
        failure = error
      }
    }
    client.close()
    if let failure { throw failure }
  }
}

/// Why an alert did not get through.
struct AlertError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
