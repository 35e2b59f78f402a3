import FunctionsKit
import StorageCore
import Synchronization
import TestSupport
import TreeDatabase
import TreeModel

@testable import Triggers

/// A meter that stands still until a test moves it.
final class TestMeter: RunMeter {
  private let times = Mutex((elapsed: Int64(1), computed: Int64(0)))

  func elapsed() -> Int64 { times.withLock { $0.elapsed } }
  func threadTime() -> Int64 { times.withLock { $0.computed } }

  /// - `computes`: whether the thread works meanwhile, or waits for the processor.
  func advance(by microseconds: Int64, computes: Bool = true) {
    times.withLock { times in
      times.elapsed += microseconds * 1000
      if computes { times.computed += microseconds * 1000 }
    }
  }
}

extension DispatcherOptions {
  /// Functions run on the writer from their first event on, and take no time unless the meter is moved.
  static func inline(meter: TestMeter = TestMeter(), after cleanRuns: Int = 0, runners: Int = 4) -> DispatcherOptions {
    var options = DispatcherOptions(runnerCount: runners)
    options.inline.meter = meter
    options.inline.cleanRuns = cleanRuns
    return options
  }
}

extension TriggerFixture {
  /// A fixture whose functions run on the writer, and that has caught up with its store.
  static func inline(
    folder: TemporaryFolder = TemporaryFolder(), options: DispatcherOptions = .inline(), limits: WriteLimits = WriteLimits(),
    observers: [any CommitObserver] = [], _ register: (Functions) -> Void
  ) async throws -> TriggerFixture {
    let fixture = try await TriggerFixture(
      folder: folder, limits: limits, options: options, observers: observers, register)
    try await fixture.serves()
    return fixture
  }

  /// Waits until the service has begun, and has caught up with the store.
  func serves() async throws {
    func follows(_ state: inout DispatchState) -> Bool {
      state.isServing && state.namespaces.values.allSatisfy { !$0.isLagging && !$0.isLoading }
    }
    while !dispatcher.withState({ follows(&$0) }) { await Task.yield() }
    try await drain()
  }

  /// How many runs of a function were on the writer.
  func inlineRuns(of function: String) -> Int {
    _ = dispatcher.counts(of: function)
    return dispatcher.counts(of: function)?.inline ?? 0
  }

  func isInline(_ function: String) -> Bool {
    dispatcher.functions.first { $0.name == function }?.isInline ?? false
  }

  /// What became of every event, without the revisions, which depend on who was quicker.
  func outcomes() throws -> [String] {
    try executions().map { execution in
      let reason = (execution.reason ?? "").prefix { $0 != ":" }
      return "\(execution.function) \(execution.outcome) \(reason) \(execution.attempt) \(execution.event.path)"
    }.sorted()
  }
}

/// Keeps what was committed, batch by batch.
final class BatchNotes: CommitObserver {
  private let batches = Mutex<[[CommittedRequest]]>([])

  var all: [[CommittedRequest]] { batches.withLock(\.self) }

  func didCommit(_ batch: [CommittedRequest]) { batches.withLock { $0.append(batch) } }
}
