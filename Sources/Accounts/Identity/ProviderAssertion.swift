import TextFormats
import TreeModel

/// What a client says of an identity elsewhere: in a form-encoded body, or in the query or fragment of the address that it
/// came back by; the fragment counts most (spec: auth-protocol §2.4).
struct ProviderAssertion: Sendable {
  let providerID: String
  let idToken: String?
  let accessToken: String?
  let nonce: String?

  init(_ fields: IdentityFields) throws(AccountError) {
    guard let uri = try fields.text("requestUri"), !uri.isEmpty else { throw AccountError("MISSING_REQUEST_URI") }
    guard let url = AbsoluteURL(uri) else { throw AccountError("INVALID_REQUEST_URI") }
    guard fields["pendingToken"] == nil else {
      // None is ever given out here.
      throw AccountError("INVALID_PENDING_TOKEN")
    }
    var values: [String: String] = [:]
    let parts = url.text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let body = FormEncoding.parse(try fields.text("postBody") ?? "")
    let fragment = parts.count > 1 ? FormEncoding.parse(parts[1]) : []
    let query = AbsoluteURL(String(parts[0]))?.parameters ?? []
    for (name, value) in query + body + fragment { values[name] = value }
    guard let id = values["providerId"] ?? values["provider_id"], !id.isEmpty else {
      throw AccountError(
        "INVALID_CREDENTIAL_OR_PROVIDER_ID", "Invalid IdP response/credential: \(uri.prefix(200))?")
    }
    guard values["SAMLResponse"] == nil else {
      throw AccountError(
        "INVALID_IDP_RESPONSE",
        "SAML is not supported: nothing here can check such an answer, so none is believed. Use an OpenID Connect provider.")
    }
    providerID = try AccountRules.providerID(id)
    guard !["password", "phone", "email", "anonymous", "custom"].contains(providerID) else {
      throw AccountError("INVALID_CREDENTIAL_OR_PROVIDER_ID", "\(providerID) is no identity provider.")
    }
    idToken = values["id_token"]
    accessToken = values["access_token"]
    nonce = values["nonce"]
    guard idToken != nil || accessToken != nil else {
      throw AccountError("INVALID_CREDENTIAL_OR_PROVIDER_ID", "Invalid IdP response/credential: no token was sent.")
    }
  }
}
