import StorageCore

/// What came of an identity.
enum ProviderOutcome: Sendable {
  case signedIn(AccountSession, isNew: Bool)
  /// The address is another account's, and the provider has not seen that it is this player's.
  case needsConfirmation(AccountRecord)
}
