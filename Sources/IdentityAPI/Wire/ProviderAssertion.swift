import Accounts
import TextFormats
import TreeModel

extension IdentityAssertion {
  /// Reads what a client says of an identity: in a form-encoded body, or in the query or fragment of the address that it came
  /// back by; the fragment counts most.
  ///
  /// The fields are those of `accounts.signInWithIdp`
  /// (https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/signInWithIdp).
  init(_ fields: IdentityFields) throws {
    let uri = try fields.required("requestUri", orThrow: "MISSING_REQUEST_URI")
    guard let url = AbsoluteURL(uri) else { throw IdentityError("INVALID_REQUEST_URI") }
    // None is ever given out here.
    guard fields["pendingToken"] == nil else { throw IdentityError("INVALID_PENDING_TOKEN") }
    let values = try Self.values(of: url, fields: fields)
    guard let id = values["providerId"] ?? values["provider_id"], !id.isEmpty else {
      throw IdentityError(
        "INVALID_CREDENTIAL_OR_PROVIDER_ID", "Invalid IdP response/credential: \(uri.prefix(200))?")
    }
    guard values["SAMLResponse"] == nil, !id.hasPrefix("saml.") else {
      throw IdentityError(
        "INVALID_IDP_RESPONSE",
        "SAML is not supported: nothing here can check such an answer, so none is believed. Use an OpenID Connect provider.")
    }
    let provider = try IdentityFields.providerID(id)
    guard !["password", "phone", "email", "anonymous", "custom"].contains(provider.text) else {
      throw IdentityError("INVALID_CREDENTIAL_OR_PROVIDER_ID", "\(provider) is no identity provider.")
    }
    self.init(provider: provider)
    idToken = values["id_token"]
    accessToken = values["access_token"]
    nonce = values["nonce"]
    guard idToken != nil || accessToken != nil else {
      throw IdentityError("INVALID_CREDENTIAL_OR_PROVIDER_ID", "Invalid IdP response/credential: no token was sent.")
    }
  }

  private static func values(of url: AbsoluteURL, fields: IdentityFields) throws -> [String: String] {
    let parts = url.text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let body = FormEncoding.parse(try fields.text("postBody") ?? "")
    let fragment = parts.count > 1 ? FormEncoding.parse(parts[1]) : []
    let query = AbsoluteURL(String(parts[0]))?.parameters ?? []
    var values: [String: String] = [:]
    for (name, value) in query + body + fragment { values[name] = value }
    return values
  }
}
