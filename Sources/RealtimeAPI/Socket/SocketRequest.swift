import TreeModel

/// One request of a session.
struct SocketRequest {
  /// The client's own number; the answer repeats it.
  let number: Int64
  let action: String
  let body: JSON
  /// Bytes of the message that it came in.
  let bytes: Int
  /// What it takes in memory, about.
  let weight: Int

  /// What the action is, as far as the order of requests is concerned.
  enum Kind {
    /// Goes to the writer; others may begin before it is answered, though not be answered before it.
    case write
    /// Reads the tree once: what was written before must be there, so it begins when everything before it is answered.
    case read
    /// Begins when it is looked at, and is answered when everything before it is.
    case immediate
  }

  /// Whether it costs the writer something: it is what ``SocketPace`` counts.
  var isPaced: Bool {
    switch action {
    case "p", "m", "o", "om": true
    default: false
    }
  }

  var kind: Kind {
    switch action {
    case "p", "m": .write
    case "g": .read
    default: .immediate
    }
  }
}
