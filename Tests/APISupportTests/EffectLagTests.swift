import CoreMetrics
import NIOCore
import StorageCore
import Testing
import TreeModel

@testable import APISupport
@testable import HTTPServer

/// What the server says about how long a reward takes.
struct EffectLagTests {
  private let namespace = NamespaceID(rawValue: 1)

  private func event(_ revision: Int64) -> EventID {
    EventID(epoch: 1, revision: Revision(revision), path: PathBytes("/users/bob"))
  }

  private func write(_ revision: Int64) -> CommittedRequest {
    let record = EventRecord(namespace: namespace, id: event(revision), kind: .updated, hop: 0)
    return CommittedRequest(
      request: CommitRequest(namespace: namespace, actor: .anonymous),
      receipt: CommitReceipt(revision: Revision(revision), changed: true, time: 0, events: [record]), changes: [])
  }

  private func effect(
    of cause: Int64, as revision: Int64, _ outcome: ExecutionRecord.Outcome = .done, in other: NamespaceID? = nil
  ) -> CommittedRequest {
    var request = CommitRequest(namespace: other ?? namespace, actor: .admin("test"))
    request.triggers.execution = ExecutionRecord(
      event: event(cause), function: "f", outcome: outcome, reason: nil, attempt: 1, startedAt: 0, finishedAt: 0, settings: nil)
    return CommittedRequest(
      request: request, receipt: CommitReceipt(revision: Revision(revision), changed: true, time: 0), changes: [])
  }

  private static let description = PrometheusRecorder.Description.histogram(
    "lag", help: "", boundsMicroseconds: EffectLag.boundsMicroseconds)

  private func at(_ microseconds: Int64) -> NIODeadline { .uptimeNanoseconds(1_000_000_000) + .microseconds(microseconds) }

  @Test("An effect counts from the moment when its write was durable")
  func counted() throws {
    let recorder = PrometheusRecorder([Self.description])
    let lag = EffectLag(timer: Timer(label: "lag", factory: recorder))
    lag.note([write(7), write(8)], at: at(0))
    lag.note([effect(of: 7, as: 9)], at: at(900))
    lag.note([effect(of: 8, as: 10)], at: at(4500))
    let (counts, seconds) = try #require(recorder.histogram("lag")).current
    #expect(counts[EffectLag.boundsMicroseconds.firstIndex(of: 1000)!] == 1)
    #expect(counts[EffectLag.boundsMicroseconds.firstIndex(of: 5000)!] == 1)
    #expect(counts.reduce(0, +) == 2)
    #expect(abs(seconds - 0.0054) < 1e-9)
  }

  @Test("What was skipped, what is another namespace's, and what comes after thousands of commits does not count")
  func uncounted() throws {
    let recorder = PrometheusRecorder([Self.description])
    let lag = EffectLag(timer: Timer(label: "lag", factory: recorder))
    lag.note([write(7)], at: at(0))
    lag.note([effect(of: 7, as: 8, .skipped), effect(of: 6, as: 9)], at: at(10))
    lag.note([effect(of: 7, as: 8, in: NamespaceID(rawValue: 2))], at: at(10))
    lag.note([write(7 + 4096)], at: at(20))
    lag.note([effect(of: 7, as: 5000)], at: at(30))
    #expect(try #require(recorder.histogram("lag")).current.counts.reduce(0, +) == 0)
  }
}
