import TreeDatabase
import TreeModel

/// One listen of a session.
final class SocketListen {
  /// What a client can listen to once: a place and a window over it.
  struct ID: Hashable {
    let path: Path
    let query: Query?
  }

  let id: ID
  let listening: Listening
  /// Whether it may be, and stay.
  let admission: ListenAdmission
  /// The query as the client sent it: a revocation repeats it.
  let query: JSON?
  let tag: Int64?
  /// The path for pushes, without a slash at its ends, as the hosted service writes it.
  let pathText: String
  /// The request while it is not answered, and its place among the answers.
  var unanswered: (request: Int64, place: Int)?
  /// Whether the answer warns that no index serves the query.
  let isUnindexed: Bool

  init(
    id: ID, listening: Listening, admission: ListenAdmission, query: JSON?, tag: Int64?,
    unanswered: (request: Int64, place: Int), isUnindexed: Bool
  ) {
    self.id = id
    self.listening = listening
    self.admission = admission
    self.query = query
    self.tag = tag
    pathText = id.path.keys.map(\.text).joined(separator: "/")
    self.unanswered = unanswered
    self.isUnindexed = isUnindexed
  }

  /// The path of a push; `below` is relative to the listen.
  func path(_ below: String) -> String {
    below.isEmpty ? pathText : pathText.isEmpty ? below : "\(pathText)/\(below)"
  }
}
