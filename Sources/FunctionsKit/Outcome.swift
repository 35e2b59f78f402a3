/// What became of a function's run. Returning one is required, so that nothing is forgotten silently.
public enum Outcome: Sendable, Hashable {
  /// The effects, if any, shall be committed.
  case done
  /// Nothing was to be done; the reason, in one word, is shown in the trigger log. Effects asked for before are dropped.
  case skipped(String)
}
