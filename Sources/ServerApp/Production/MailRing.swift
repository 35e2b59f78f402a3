import AdminAPI
import FunctionsKit
import Logging
import MailContent
import StorageCore
import Synchronization
import TreeModel
import Triggers

/// The outlet `mail` of a server in development: shows each mail in the log, and keeps the latest for
/// `/admin/v1/mail`, where a test finds the link that a player would have clicked.
final class MailRing: Outlet, MailShowing {
  /// How many mails are kept.
  static let countMax = 100

  let name = MailOrder.outlet
  private let clock: any WallClock
  private let logger: Logger
  private let kept = Mutex<[(key: String, json: JSON)]>([])

  init(clock: any WallClock, logger: Logger) {
    self.clock = clock
    self.logger = logger
  }

  func deliver(key: String, payload: String) async throws {
    let order: MailOrder
    do {
      order = try MailOrder(payload: payload)
    } catch {
      throw PermanentFailure(error.message)
    }
    let link = Self.firstLink(in: order.text)
    logger.notice(
      "mail, shown instead of sent",
      metadata: [
        "to": "\(order.to.printable)", "subject": "\(order.subject.printable)", "link": "\(link?.printable ?? "none")",
      ])
    let json = Self.json(order, link: link, time: clock.now())
    kept.withLock { kept in
      // A delivery that is repeated is the same mail.
      kept.removeAll { $0.key == key }
      kept.append((key, json))
      if kept.count > Self.countMax { kept.removeFirst(kept.count - Self.countMax) }
    }
  }

  func remainder(of payload: String) -> String { (try? MailOrder(payload: payload))?.remainder ?? payload }

  func recentMail(limit: Int) -> [JSON] { kept.withLock { $0.suffix(limit).reversed().map(\.json) } }

  private static func json(_ order: MailOrder, link: String?, time: Int64) -> JSON {
    let texts: [(String, String?)] = [
      ("kind", order.kind.rawValue), ("to", order.to), ("from", order.from ?? order.fromName), ("subject", order.subject),
      ("text", order.text), ("html", order.html), ("link", link),
    ]
    return .object(
      [JSON.Member(key: "time", value: .int(time))]
        + texts.compactMap { name, value in value.map { JSON.Member(key: name, value: .string($0)) } })
  }

  private static func firstLink(in text: String) -> String? {
    text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("https://") || $0.hasPrefix("http://") }.map(String.init)
  }
}
