/// What came of reading a listen's snapshot.
enum LoadOutcome: Sendable {
  /// The node or window; and whether it is what the client said it holds.
  case read(ListenMessage, isCurrent: Bool)
  case failed(ListenEnd)
}
