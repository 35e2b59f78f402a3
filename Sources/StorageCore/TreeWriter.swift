/// The door of the write pipeline, for rooms that commit something themselves.
public protocol TreeWriter: Sendable {
  /// Queues a request. `completion` is called once, on the writer, when the request is durable or refused; it must only
  /// hand the result on.
  func submit(_ request: CommitRequest, completion: @escaping @Sendable (Result<CommitReceipt, CommitRefusal>) -> Void)
  /// Judges requests one after the other, each on what the ones before it left, and takes everything back: nothing is
  /// committed, nobody is told. `completion` is called once, on the writer, with what would have become of each.
  func rehearse(
    _ requests: [CommitRequest],
    completion: @escaping @Sendable ([Result<CommittedRequest, CommitRefusal>]) -> Void)
}
