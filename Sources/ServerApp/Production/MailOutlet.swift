import FunctionsKit
import Logging
import Mail
import MailContent
import ServerConfiguration
import StorageCore
import Triggers

/// The outlet `mail`: takes orders out of the outbox to the mail server.
final class MailOutlet: Outlet {
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
    } catch let fault as MailOrderFault {
      throw PermanentFailure(fault.message)
    } catch let failure as MailFailure where failure.kind == .permanent {
      throw PermanentFailure(failure.message)
    }
  }

  func remainder(of payload: String) -> String { (try? MailOrder(payload: payload))?.remainder ?? payload }

  /// Hangs up on the mail server.
  func close() { client.close() }
}
