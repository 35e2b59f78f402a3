/// Why PostgreSQL did not do what it was asked for.
public struct PostgresError: Error, Sendable, CustomStringConvertible {
  /// The error's class, five letters (https://www.postgresql.org/docs/current/errcodes-appendix.html); empty where there was no
  /// answer: then it may have been done.
  public let state: String
  /// What happened, in PostgreSQL's words.
  public let message: String

  init(state: String, message: String) {
    self.state = state
    self.message = message
  }

  /// Whether nothing is known of what was asked for: the connection broke, or the server was ending.
  public var isUnknown: Bool {
    // Class 57 is somebody who ended the server or the statement; 53 is a server that has run out of something.
    state.isEmpty || state.hasPrefix("08") || state.hasPrefix("57") || state.hasPrefix("53") || state.hasPrefix("40")
      || state == Self.warned
  }

  /// The statement divided by zero: how a batch finds that its fence is not the lease's.
  static let fenced = "22012"
  /// A key of PostgreSQL's own refused a row.
  static let uniqueViolation = "23505"
  /// A lock that somebody else holds was waited for as long as was allowed.
  static let lockTimeout = "55P03"
  /// The server was only a standby.
  static let readOnly = "25006"
  /// Not PostgreSQL's: a statement went well, but not without a warning, such as that no standby has it.
  static let warned = "-warn"

  public var description: String { state.isEmpty ? message : "\(message) (\(state))" }
}
