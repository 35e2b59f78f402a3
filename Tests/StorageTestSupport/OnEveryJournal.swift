public import Testing

/// Runs each test of a suite twice: on a store that stands alone, and on the working copy of a journal in memory.
public struct OnEveryJournal: SuiteTrait, TestTrait, TestScoping {
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard TestStore.journal == .none else { return try await function() }
    for journal in [TestStore.Journal.none, .memory] {
      try await TestStore.$journal.withValue(journal) { try await function() }
    }
  }
}

extension Trait where Self == OnEveryJournal {
  /// See ``OnEveryJournal``.
  public static var onEveryJournal: OnEveryJournal { OnEveryJournal() }
}
