public import TreeModel

/// A request that is durable.
///
/// A class, because it is handed to every observer, and on to their threads.
public final class CommittedRequest: Sendable {
  /// What was asked.
  public let request: CommitRequest
  /// What became of it.
  public let receipt: CommitReceipt
  /// What changed, sorted by path.
  public let changes: [LeafChange]

  public init(request: CommitRequest, receipt: CommitReceipt, changes: [LeafChange]) {
    self.request = request
    self.receipt = receipt
    self.changes = changes
  }
}
