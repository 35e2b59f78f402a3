package import StorageCore
import TextFormats

/// What functions made of a write: the value of `X-Doubloon-Effects`.
package enum EffectsState: Sendable, Hashable {
  /// Some still run.
  case pending
  /// None runs any more; these did not finish.
  case settled(unfinished: [Unfinished])

  /// A function that has not done what it should: it gave up, waits for its next attempt, or is paused.
  package struct Unfinished: Sendable, Hashable {
    package let function: String
    package let state: DeliveryRecord.State

    package init(_ state: DeliveryRecord.State, _ function: String) {
      self.state = state
      self.function = function
    }
  }

  /// Functions that one header names.
  private static let namesMax = 10

  /// `settled`, `pending`, or a list of what did not finish, the worst first: `dead;function=pay, waiting;function=greet`.
  /// Why is said to administrators only.
  var header: String {
    guard case .settled(let unfinished) = self else { return "pending" }
    guard !unfinished.isEmpty else { return "settled" }
    let inOrder: [DeliveryRecord.State] = [.dead, .waiting, .paused]
    let items = inOrder.flatMap { state in
      Set(unfinished.filter { $0.state == state }.map(\.function)).sorted().map { "\(state);function=\(Self.token($0))" }
    }
    return items.prefix(Self.namesMax).joined(separator: ", ")
  }

  /// A function's name as a token of a header: what is no letter, digit or one of `-._` is percent-encoded.
  private static func token(_ name: String) -> String {
    PercentEncoding.encode(name) { !PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "~") }
  }
}

/// Waits for what functions do with an event: what `X-Doubloon-Wait: effects` waits for.
package protocol EffectsWaiting: Sendable {
  /// Waits until every one of the events is settled: handled, skipped, or waiting for a retry, paused or dead.
  ///
  /// - Returns: what became of them before `timeoutMilliseconds` had passed.
  func settled(_ events: [EventRecord], timeoutMilliseconds: Int64) async -> EffectsState
}
