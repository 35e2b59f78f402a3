import HTTPServer
import NIOCore
import StorageCore
import Synchronization

/// How long players wait for a reward: from a write's being durable until the effect of a function that it caused is.
///
/// Remembers when the last commits with events became durable. An effect that comes so much later that its write is
/// forgotten was retried, held back or replayed: it says nothing about speed, and is not counted.
final class EffectLag: Sendable {
  /// A commit whose events may have effects.
  private struct Cause {
    var namespace: NamespaceID
    var revision: Revision
    var durableAt: NIODeadline
  }

  /// Finer than the writes' around the promise, which is 5 ms at the 99th percentile.
  static let boundsMicroseconds: [Int64] = [
    500, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 8000, 12_000, 16_000, 32_000, 64_000, 128_000, 256_000, 1_024_000,
  ]
  /// So many revisions are remembered; a power of two.
  private static let capacity: Int64 = 4096

  let histogram = LatencyHistogram(boundsMicroseconds: boundsMicroseconds)
  private let causes = Mutex([Cause?](repeating: nil, count: Int(capacity)))

  init() {}

  /// Takes in a batch that is durable since `now`.
  func note(_ batch: [CommittedRequest], at now: NIODeadline = .now()) {
    causes.withLock { causes in
      for one in batch {
        if let execution = one.request.execution, execution.outcome == .done,
          let cause = causes[Self.slot(execution.event.revision)], cause.revision == execution.event.revision,
          cause.namespace == one.request.namespace
        {
          histogram.record(now - cause.durableAt)
        }
        if one.receipt.changed, !one.receipt.events.isEmpty {
          causes[Self.slot(one.receipt.revision)] = Cause(
            namespace: one.request.namespace, revision: one.receipt.revision, durableAt: now)
        }
      }
    }
  }

  private static func slot(_ revision: Revision) -> Int { Int(revision.rawValue & (capacity - 1)) }
}
