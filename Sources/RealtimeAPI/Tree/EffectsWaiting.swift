package import StorageCore

/// Waits for what functions do with an event: what `X-Doubloon-Wait: effects` waits for.
package protocol EffectsWaiting: Sendable {
  /// Waits until every one of the events is settled: handled, skipped, or waiting for a retry, paused or dead.
  ///
  /// - Returns: what became of them before `timeoutMilliseconds` had passed.
  func settled(_ events: [EventRecord], timeoutMilliseconds: Int64) async -> EffectsState
}
