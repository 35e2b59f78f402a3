/// What becomes of a payment whose business key was used before.
public enum IfPaid: Sendable, Hashable {
  /// The whole run changes nothing, and is recorded as skipped, `already_paid`.
  case skipRun
  /// The payment is left out, and the rest of the run is done: for a run that pays many, of whom one may have been paid.
  case leaveOut
}
