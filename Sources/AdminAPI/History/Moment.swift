import HTTPServer
import NIOHTTP1
import StorageCore

/// A state of the tree, as a request names it: by a revision, by a time, or not at all, which is now.
struct Moment: Sendable {
  private let revision: Int64?
  private let time: Int64?
  /// How the parameter of the revision is called.
  private let name: String

  /// Reads one of two parameters.
  init(_ call: RouteCall, revision: String, time: String) throws(APIError) {
    name = revision
    self.revision = try call.integer(revision)
    self.time = try call.integer(time)
    if self.revision != nil, self.time != nil {
      throw .badRequest("\(revision) and \(time) exclude each other: name a revision, or a time.")
    }
  }

  /// The revision that is meant.
  func revision(in namespace: NamespaceID, _ snapshot: any Snapshot) throws(StorageError) -> Result<Revision, APIError> {
    let head = try snapshot.head(of: namespace).revision
    if let time { return .success(try snapshot.revision(in: namespace, at: time)) }
    guard let revision else { return .success(head) }
    guard revision <= head.rawValue else {
      // Not there yet, as anything else that does not exist: nothing is wrong with the request itself.
      return .failure(
        APIError(.notFound, "not_found", "There is no revision \(revision): \(name) must be 0 to \(head), the newest."))
    }
    return .success(Revision(revision))
  }
}
