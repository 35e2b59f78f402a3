package import Credentials

/// Somebody else who says who players are, as the configuration names him.
package struct TrustedIssuer: Sendable {
  /// In what the issuer is believed.
  package enum Use: Sendable, Hashable {
    /// Players sign in here with its tokens, and get the house's own.
    case signIn
    /// The same, and its tokens open the tree as they are. The prefix stands before its `sub` in user ids.
    case signInAndTree(uidPrefix: String)
    /// A project at Firebase: its tokens open the tree, with the same user ids.
    case firebase
  }

  package let provider: IdentityProvider
  package let use: Use
  /// A file of certificates that vouch for the issuer's server; nil for those that the system trusts.
  package let authority: String?

  /// Who verifies the issuer's tokens at the tree; nil if they do not open it.
  package var users: ForeignUsers? {
    switch use {
    case .signIn: nil
    case .signInAndTree(let prefix): ForeignUsers(provider: provider, isFirebase: false, uidPrefix: prefix)
    case .firebase: ForeignUsers(provider: provider, isFirebase: true)
    }
  }
}
