public import TreeModel

/// What makes an event the same event: where and when something changed, whatever is registered.
///
/// A function deployed years later derives the same ids from the log (design §5). The namespace is not part of the value:
/// everything that has a name is scoped by its namespace. The text form is `epoch-revision:path`, as in
/// `1-42:/users/bob/level`.
public struct EventID: Sendable, Hashable, CustomStringConvertible {
  /// Counts the restores of the data: revisions repeat after a restore, events do not.
  public let epoch: Int64
  /// The commit that changed it.
  public let revision: Revision
  /// The place that a pattern matched; what changed is there or below.
  public let path: PathBytes

  public init(epoch: Int64, revision: Revision, path: PathBytes) {
    self.epoch = epoch
    self.revision = revision
    self.path = path
  }

  public var description: String {
    "\(epoch)-\(revision):\(path.path?.description ?? "?")"
  }

  /// Reads the text form; nil if it is not one.
  public init?(_ text: String) {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let numbers = text[..<colon].split(separator: "-", omittingEmptySubsequences: false)
    guard numbers.count == 2, let epoch = Int64(numbers[0]), let revision = Int64(numbers[1]),
      let path = try? Path(parsingOwn: text[text.index(after: colon)...])
    else { return nil }
    self.init(epoch: epoch, revision: Revision(revision), path: PathBytes(path))
  }
}
