/// What a request says about who sent it, as it was sent.
package struct RequestCredentials: Sendable {
  /// What stands behind `Bearer` in the `Authorization` header, or in `access_token`.
  package let accessToken: String?
  /// The parameter `auth`: an ID token.
  package let idToken: String?
  /// The parameter `auth_variable_override`, as JSON text.
  package let override: String?

  /// Whether a web page of somebody else may have sent it (``DevelopmentOrigins``): then what everybody knows proves nothing.
  package let isForeign: Bool

  package init(accessToken: String? = nil, idToken: String? = nil, override: String? = nil, isForeign: Bool = false) {
    self.accessToken = accessToken
    self.idToken = idToken
    self.override = override
    self.isForeign = isForeign
  }
}
