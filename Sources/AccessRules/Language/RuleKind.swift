/// What a rule decides.
public enum RuleKind: String, Sendable, Hashable {
  /// Who may read.
  case read = ".read"
  /// Who may write.
  case write = ".write"
  /// What may be written.
  case validate = ".validate"
}
