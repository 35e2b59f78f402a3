import TreeDatabase

/// The listens of a session: found by what the client calls them, and by what the hub does.
struct SocketListens {
  private var places: [SocketListen.ID: SocketListen] = [:]
  private var listenings: [ObjectIdentifier: SocketListen] = [:]

  var isEmpty: Bool { places.isEmpty }
  var count: Int { places.count }
  var all: [SocketListen] { Array(places.values) }

  /// By place and window.
  subscript(id: SocketListen.ID) -> SocketListen? { places[id] }

  /// By the hub's object: a push costs one look, whatever its path.
  subscript(listening: Listening) -> SocketListen? { listenings[ObjectIdentifier(listening)] }

  /// Adds a listen at a place that has none.
  mutating func add(_ listen: SocketListen) {
    places[listen.id] = listen
    listenings[ObjectIdentifier(listen.listening)] = listen
  }

  mutating func remove(_ listen: SocketListen) {
    places[listen.id] = nil
    listenings[ObjectIdentifier(listen.listening)] = nil
  }
}
