import APISupport
import Accounts
import AdminAPI
import AdminModel
import FunctionsKit
import Logging
import Mail
import MailContent
import ServerConfiguration
import StorageCore
import Synchronization
import TreeModel
import Triggers

/// The transport `mail`: hands orders from the outbox to the mail server.
final class SMTPTransport: OutboxTransport {
  let name = MailOrder.outlet
  private let client: SMTPClient
  private let settings: MailSettings
  private let clock: any WallClock
  private let logger: Logger

  /// - Throws: what the TLS library says against the configured authorities.
  init(_ settings: MailSettings, clock: any WallClock, logger: Logger) throws {
    self.settings = settings
    self.clock = clock
    self.logger = logger
    client = try SMTPClient(settings.server)
  }

  func deliver(key: String, payload: String) async throws {
    do {
      let order = try MailOrder(payload: payload)
      let message = try MailMessage(order, from: settings.from)
      try await client.send(EncodedMail(message, key: key, time: clock.now()))
      logger.info("mail sent", metadata: ["kind": "\(order.kind.rawValue)", "key": "\(key)"])
    } catch let error as MailOrderError {
      throw PermanentError(error.message)
    } catch let failure as MailError where failure.kind == .permanent {
      throw PermanentError(failure.message)
    }
  }

  func remainder(of payload: String) -> String { (try? MailOrder(payload: payload))?.remainder ?? payload }

  /// Hangs up on the mail server.
  func close() { client.close() }
}

/// The transport `mail` of a server in development: shows each mail in the log, and keeps the latest for `/admin/v1/mail`,
/// where a test finds the link that a player would have clicked.
final class DevelopmentMailbox: OutboxTransport, RecentMailSource {
  /// How many mails are kept.
  static let countMax = 100

  let name = MailOrder.outlet
  private let clock: any WallClock
  private let logger: Logger
  private let kept = Mutex<[(key: String, mail: AdminAccess.Mail)]>([])

  init(clock: any WallClock, logger: Logger) {
    self.clock = clock
    self.logger = logger
  }

  func deliver(key: String, payload: String) async throws {
    let order: MailOrder
    do {
      order = try MailOrder(payload: payload)
    } catch {
      throw PermanentError(error.message)
    }
    let link = Self.firstLink(in: order.text)
    logger.notice(
      "mail, shown instead of sent",
      metadata: [
        "to": "\(order.to.printable)", "subject": "\(order.subject.printable)", "link": "\(link?.printable ?? "none")",
      ])
    let mail = AdminAccess.Mail(
      time: Timestamp(clock.now()), kind: order.kind.rawValue, to: order.to, from: order.from ?? order.fromName,
      subject: order.subject, text: order.text, html: order.html, link: link)
    kept.withLock { kept in
      // A delivery that is repeated is the same mail.
      kept.removeAll { $0.key == key }
      kept.append((key, mail))
      if kept.count > Self.countMax { kept.removeFirst(kept.count - Self.countMax) }
    }
  }

  func remainder(of payload: String) -> String { (try? MailOrder(payload: payload))?.remainder ?? payload }

  func recentMail(limit: Int) -> [AdminAccess.Mail] { kept.withLock { $0.suffix(limit).reversed().map(\.mail) } }

  private static func firstLink(in text: String) -> String? {
    text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("https://") || $0.hasPrefix("http://") }.map(String.init)
  }
}

/// Writes the mails with players' codes from the templates, for the transport `mail`.
struct TemplatedCodeMail: CodeMailing {
  let templates: TemplateCatalog
  /// How the game is called; nil for the project's name.
  var appName: String?

  func message(for letter: CodeMail) -> (outlet: String, payload: String)? {
    let kind: MailKind =
      switch letter.kind {
      case .verifyEmail: .verifyEmail
      case .passwordReset: .resetPassword
      case .emailSignIn: .signIn
      case .changeEmail: .verifyAndChangeEmail
      case .recoverEmail: .recoverEmail
      }
    // The person who makes an account names it, and says whose address is to be confirmed.
    let values = [
      "appName": appName ?? letter.project, "displayName": DisplayName.of(letter.displayName ?? ""), "email": letter.to,
      "link": letter.link,
      "newEmail": letter.newEmail ?? "",
    ].filter { kind.placeholders.contains($0.key) }
    // The sender is the one that the configuration names.
    let order = MailOrder(kind: kind, to: letter.to, words: templates.words(kind, locales: letter.locales, values: values))
    return (MailOrder.outlet, order.payload)
  }
}

/// How the server's mail leaves: over SMTP where the configuration names a server, into a mailbox that shows it in development.
struct MailDelivery {
  let smtp: SMTPTransport?
  let mailbox: DevelopmentMailbox?

  /// - `others`: the deployment's own transports; one that takes mail takes the place of both.
  init(_ configuration: ServerConfiguration, beside others: [any OutboxTransport], logger: Logger) throws {
    smtp = try configuration.mail.map { try SMTPTransport($0, clock: configuration.clock, logger: logger) }
    // In production mail waits for a configuration that says how it is sent.
    mailbox =
      smtp == nil && configuration.mode == .development
      ? DevelopmentMailbox(clock: configuration.clock, logger: logger) : nil
    isReplaced = others.contains { $0.name == MailOrder.outlet }
  }

  private let isReplaced: Bool

  /// What takes mail out of the outbox.
  var transports: [any OutboxTransport] {
    let own: [(any OutboxTransport)?] = isReplaced ? [] : [smtp, mailbox]
    return own.compactMap(\.self)
  }
}
