/// Which of the two trees that a write stands between.
public enum RuleSide: Sendable, Hashable {
  /// As it is: `data` and `root`.
  case before
  /// As the whole operation would make it: `newData`.
  case after
}
