/// Ends a run as skipped, from inside a payment: the wrapper around the author's closure makes an outcome of it.
struct RunSkipped: Error {
  /// In one word, for the trigger log.
  let reason: String
}
