import TreeModel

extension AdminLogs {
  package static let beginVerification = Endpoint<NoQuery, EmptyBody, BackgroundVerification>(
    .post, "/admin/v1/log/verify", "Begins an audit of the log that goes on by itself; one at a time.", access: .admin,
    isScoped: true)
  package static let verification = Endpoint<NoQuery, NoBody, BackgroundVerification>(
    .get, "/admin/v1/log/verification", "How far the audit of the log is, or what the last one came to, since the start.",
    isScoped: true)

  /// How an audit in the background is.
  package enum VerificationState: String, AdminWord, Hashable {
    /// There was none since the start.
    case none
    case running
    case done
    /// It could not read on, or the server stopped.
    case failed
  }

  /// An audit in the background.
  package struct BackgroundVerification: AdminValue {
    package var state: VerificationState
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?
    /// Who began it.
    package var actor: String?
    /// What was read so far.
    package var commits: Int64
    package var entries: Int64
    package var executions: Int64
    /// How many there were when it began.
    package var commitCount: Int64
    package var entryCount: Int64
    /// Why it failed.
    package var failure: String?
    /// What it came to.
    package var result: Verification?

    package init(
      state: VerificationState, startedAt: Timestamp? = nil, endedAt: Timestamp? = nil, actor: String? = nil,
      commits: Int64 = 0, entries: Int64 = 0, executions: Int64 = 0, commitCount: Int64 = 0, entryCount: Int64 = 0,
      failure: String? = nil, result: Verification? = nil
    ) {
      self.state = state
      self.startedAt = startedAt
      self.endedAt = endedAt
      self.actor = actor
      self.commits = commits
      self.entries = entries
      self.executions = executions
      self.commitCount = commitCount
      self.entryCount = entryCount
      self.failure = failure
      self.result = result
    }

    package static let notes: [String: FieldNote] = [
      "state": .text("none: there was none since the start; failed: it could not read on, or the server stopped"),
      "actor": .text("who began it"), "commits": .text("read so far, as entries and executions"),
      "commitCount": .text("how many there were when it began, as entryCount"), "failure": .text("why it failed"),
      "result": .text("what it came to"),
    ]
  }
}
