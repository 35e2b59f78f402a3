import NIOCore
import TreeDatabase
import TreeModel

/// One listen of a session.
final class SocketListen {
  /// What a client can listen to once: a path and a window over it.
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
  /// The request while it is not answered, and its slot among the answers.
  var unanswered: (request: Int64, slot: Int)?
  /// Whether the answer warns that no index serves the query.
  let isUnindexed: Bool

  init(
    id: ID, listening: Listening, admission: ListenAdmission, query: JSON?, tag: Int64?,
    unanswered: (request: Int64, slot: Int), isUnindexed: Bool
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

/// The listens of a session: found by what the client calls them, and by what the hub does.
struct SocketListens {
  private var byID: [SocketListen.ID: SocketListen] = [:]
  private var listenings: [ObjectIdentifier: SocketListen] = [:]

  var isEmpty: Bool { byID.isEmpty }
  var count: Int { byID.count }
  var all: [SocketListen] { Array(byID.values) }

  /// By path and window.
  subscript(id: SocketListen.ID) -> SocketListen? { byID[id] }

  /// By the hub's object: a push costs one look, whatever its path.
  subscript(listening: Listening) -> SocketListen? { listenings[ObjectIdentifier(listening)] }

  /// Adds a listen that was not there.
  mutating func add(_ listen: SocketListen) {
    byID[listen.id] = listen
    listenings[ObjectIdentifier(listen.listening)] = listen
  }

  mutating func remove(_ listen: SocketListen) {
    byID[listen.id] = nil
    listenings[ObjectIdentifier(listen.listening)] = nil
  }
}

/// The receiving end of a session, as the hub holds it.
final class SocketSink: ListenSink {
  private let session: NIOLoopBound<SocketSession>

  init(_ session: SocketSession) {
    self.session = NIOLoopBound(session, eventLoop: session.eventLoop)
  }

  func receive(_ event: ListenEvent, for listening: Listening) -> Int { session.value.receive(event, for: listening) }

  func mayContinue(_ listening: Listening) -> Bool { session.value.mayContinue(listening) }

  func flush() { session.value.flushPushes() }
}
