@testable import AdminAPI
@testable import RealtimeAPI
import PlayerLifecycle
import StorageCore
import Synchronization
import TreeModel

/// Notes what it is asked; knows one function, `f`, and never gets done.
final class StubFunctions: FunctionOperating {
  /// What nobody expects: no surface has an answer for it.
  struct Surprise: Error {
    let path = "/var/lib/secret"
  }

  let problems: [String]
  let records: [FunctionRecord]
  let descriptions: [FunctionDescription]
  let tallies: [FunctionTally]
  private let noted = Mutex<[String]>([])

  init(
    problems: [String] = [], records: [FunctionRecord] = [], descriptions: [FunctionDescription] = [],
    tallies: [FunctionTally] = []
  ) {
    self.problems = problems
    self.records = records
    self.descriptions = descriptions
    self.tallies = tallies
  }

  var calls: [String] { noted.withLock { $0 } }

  func functionRecords() throws -> [FunctionRecord] { records }

  func pause(_ function: String, reason: String, by actor: Actor) async throws {
    guard function == "f" else { throw OperationError(.notFound, "There is no function \(function).") }
    noted.withLock { $0.append("pause \(function) \(reason) \(actor)") }
  }

  func resume(_ function: String, by actor: Actor) async throws {
    noted.withLock { $0.append("resume \(function)") }
  }

  func retryDeadLetters(of function: String, in namespace: NamespaceID, by actor: Actor) async throws -> Int {
    guard function != "surprising" else { throw Surprise() }
    noted.withLock { $0.append("retry \(function)") }
    return 3
  }

  func redeliver(_ event: EventID, in namespace: NamespaceID, by actor: Actor) async throws {}

  func drain(timeoutMilliseconds: Int64) async -> DrainReport {
    let run = DrainReport.Run(
      event: EventID(epoch: 1, revision: Revision(1), path: PathBytes("/a")), function: "f", state: "running", lastError: nil)
    return DrainReport(isComplete: false, running: [run], unfinished: [])
  }
}

/// Knows of no functions: says of every event the same.
final class HeldEffects: EffectsWaiting {
  private let state: EffectsState
  private let asked = Mutex<[EventRecord]>([])

  init(_ state: EffectsState = .settled(unfinished: [])) {
    self.state = state
  }

  var events: [EventRecord] { asked.withLock { $0 } }

  func settled(_ events: [EventRecord], timeoutMilliseconds: Int64) async -> EffectsState {
    asked.withLock { $0 += events }
    return state
  }
}

/// Makes an event of every leaf that changes, as if a function waited for all of them.
struct EveryChange: CommitParticipant {
  func assignments(for request: CommitRequest, at time: Int64, in session: any CommitSession) throws(CommitError)
    -> [WriteOperation.Assignment]
  { [] }

  func participate(in draft: inout CommitDraft, session: any CommitSession) throws(CommitError) {
    for change in draft.changes where !change.path.isPriority {
      let kind: EventRecord.Kind = change.before == nil ? .created : change.after == nil ? .deleted : .updated
      draft.events.append(
        EventRecord(
          namespace: draft.request.namespace,
          id: EventID(epoch: draft.epoch, revision: draft.revision, path: change.path), kind: kind, hop: 0))
    }
  }
}
