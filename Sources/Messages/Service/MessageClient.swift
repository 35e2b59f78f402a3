/// What a client says of itself with a fetch.
package struct MessageClient: Sendable {
  /// The id of the installation.
  package var instance: String
  package var token: String?
  /// `1:NUMBER:ios:HASH`.
  package var appID = ""
  package var bundleID = ""
  package var platform = ""
  package var appVersion: String?
  package var osVersion: String?
  package var language: String?
  package var timeZone: String?
  /// The player, by the ID token of the request.
  package var uid: String?
  /// Whether it is a client of this server's, which knows more than the others.
  package var isOwn = false
  /// Campaigns that it has shown, and when it did last, in milliseconds since 1970.
  package var seen: [String: Int64] = [:]

  package init(instance: String) {
    self.instance = instance
  }
}

/// A registered installation, with its secrets in clear: said once.
package struct MessageRegistration: Sendable {
  package let instance: String
  package let refreshToken: String
  package let token: String
}

/// Why a client is not the installation that it says.
package enum InstanceError: Error, Sendable, Hashable {
  /// No such installation, or not its token.
  case unauthenticated
}
