/// Who a client is: the seam that accounts fill.
package protocol Authenticating: Sendable {
  /// Finds out who sent the credentials.
  ///
  /// Called for every request, on the event loop: what it looks up must be in memory, or one point read away.
  func caller(_ credentials: RequestCredentials) throws(AccessRefusal) -> Caller
  /// Whether the credentials of somebody who was let in are void by now, before their time. Asked by what outlives a
  /// request.
  func isVoid(_ caller: Caller) -> Bool
}

extension Authenticating {
  package func isVoid(_ caller: Caller) -> Bool { false }
}
