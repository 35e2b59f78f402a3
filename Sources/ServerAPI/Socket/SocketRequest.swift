import TreeModel

/// One request of a session.
struct SocketRequest {
  /// The client's own number; the answer repeats it.
  let number: Int64
  let action: String
  let body: JSON

  /// What the action is, as far as the order of requests is concerned.
  enum Kind {
    /// Goes to the writer; several may be on their way.
    case write
    /// Reads the tree now: what was written before must be there.
    case read
    /// Is done when it is looked at.
    case immediate
  }

  var kind: Kind {
    switch action {
    case "p", "m": .write
    case "g": .read
    default: .immediate
    }
  }
}
