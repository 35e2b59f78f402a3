import StorageCore

/// What is known of a client when there is not enough memory for everybody: who has shown less is refused first.
package enum ClientStanding: Sendable {
  /// Has shown no credential, or none that is good.
  case stranger
  /// A signed-in user.
  case user
  /// An administrator, or a service account: bounded by what it may ask, not by what others do.
  case administrator
}

extension Caller {
  /// What counts when memory is short.
  package var standing: ClientStanding {
    if role != nil { return .administrator }
    if case .user = actor { return .user }
    return .stranger
  }
}
