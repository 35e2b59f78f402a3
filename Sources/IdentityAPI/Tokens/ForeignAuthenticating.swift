package import Credentials

/// Users whose ID tokens somebody else issues: the composition knows whose, from the configuration.
package protocol ForeignAuthenticating: Sendable {
  /// Whose a token is; nil if it says that somebody issued it who is not configured.
  ///
  /// Called on event loops: it waits for nothing. Keys that are missing are fetched meanwhile.
  ///
  /// - Throws: `TokenFault`; ``Credentials/TokenFault/keysUnavailable(_:)`` if it can be judged later.
  func user(of token: String, at now: Int64) throws(TokenFault) -> IDToken?
}
