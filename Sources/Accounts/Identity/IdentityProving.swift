public import Credentials

/// What is asked of others about who somebody is: the composition answers, from configuration and over the network.
public protocol IdentityProving: Sendable {
  /// Verifies a provider's ID token; nil if no such provider is configured.
  func identity(_ token: String, of provider: String, nonce: String?) async throws(TokenFault) -> ForeignIdentity?
  /// The public key of a service account that may sign custom tokens; nil if there is none.
  func serviceAccountKey(_ email: String, _ id: KeyID?) -> VerificationKey?
}

/// Nobody elsewhere is believed.
public struct NoIdentities: IdentityProving {
  public init() {}
  public func identity(_ token: String, of provider: String, nonce: String?) async throws(TokenFault) -> ForeignIdentity? {
    nil
  }
  public func serviceAccountKey(_ email: String, _ id: KeyID?) -> VerificationKey? { nil }
}
