public import StorageCore

/// Who knows when the functions are done with an event: what `X-Doubloon-Wait: effects` waits for.
public protocol EffectsWaiting: Sendable {
  /// Waits until every one of the events is settled: handled, skipped, or waiting for a retry, paused or dead.
  ///
  /// - Returns: whether all were settled before `timeoutMilliseconds` had passed.
  func settled(_ events: [EventRecord], timeoutMilliseconds: Int64) async -> Bool
}
