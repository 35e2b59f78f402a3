import Credentials
import TreeModel

/// What administrators set up about an identity provider, for a project or for one of its tenants.
package struct ProviderConfiguration: Sendable, Hashable {
  /// A provider that speaks OpenID Connect: its ID tokens sign players in.
  package struct OpenIDConnect: Sendable, Hashable {
    /// The application as the provider knows it: what its tokens are for (`aud`).
    package var clientID: String
    /// Who issues the tokens (`iss`), an `https` address below which its keys are found.
    package var issuer: String
    /// What the application shows where it exchanges a code for a token; a secret, which is only kept here.
    package var clientSecret: String?
    /// Whether clients ask for an ID token, and whether for a code.
    package var answersIDToken = false
    package var answersCode = false

    package init(clientID: String, issuer: String) {
      self.clientID = clientID
      self.issuer = issuer
    }
  }

  /// A provider that speaks SAML: it is kept for those who manage providers, and signs nobody in.
  package struct SAML: Sendable, Hashable {
    package var entityID: String
    package var signInURL: String
    package var signsRequests = false
    /// X.509, in PEM.
    package var certificates: [String]
    package var ownEntityID: String
    package var callbackURL: String?

    package init(entityID: String, signInURL: String, certificates: [String], ownEntityID: String) {
      self.entityID = entityID
      self.signInURL = signInURL
      self.certificates = certificates
      self.ownEntityID = ownEntityID
    }
  }

  package enum Kind: Sendable, Hashable {
    case openIDConnect(OpenIDConnect)
    case saml(SAML)
  }

  /// Which providers there are, by what their names begin with.
  package enum Family: String, Sendable, Hashable {
    case openIDConnect = "oidc."
    case saml = "saml."
  }

  /// `oidc.guild`, `saml.guild`.
  package let id: ProviderID
  package var displayName: String?
  package var isEnabled = false
  package var kind: Kind

  package init(_ id: ProviderID, kind: Kind) {
    self.id = id
    self.kind = kind
  }

  /// Whose ID tokens are believed; nil for a provider whose are not.
  var identityProvider: IdentityProvider? {
    guard case .openIDConnect(let own) = kind else { return nil }
    return IdentityProvider(
      id: id.text, issuers: [own.issuer], audiences: [own.clientID], keys: .discovery(issuer: own.issuer))
  }
}

// MARK: - Storage

/// The stored form: a JSON object.
extension ProviderConfiguration {
  /// Of which kind the records are; their keys are `TENANT/NAME`, of the project `/NAME`.
  static let kind = "account-provider"

  static func key(_ id: ProviderID, of project: AccountProject) -> String { "\(project.scope.tenant ?? "")/\(id)" }

  init?(_ id: ProviderID, stored text: String) {
    guard let json = try? JSONParser.parse(text) else { return nil }
    if let own = json["oidc"] {
      var provider = OpenIDConnect(clientID: own["clientId"]?.string ?? "", issuer: own["issuer"]?.string ?? "")
      provider.clientSecret = own["clientSecret"]?.string
      provider.answersIDToken = own["idToken"]?.bool ?? false
      provider.answersCode = own["code"]?.bool ?? false
      guard !provider.clientID.isEmpty, !provider.issuer.isEmpty else { return nil }
      self.init(id, kind: .openIDConnect(provider))
    } else if let own = json["saml"] {
      var provider = SAML(
        entityID: own["entityId"]?.string ?? "", signInURL: own["signInUrl"]?.string ?? "",
        certificates: (own["certificates"]?.array ?? []).compactMap(\.string), ownEntityID: own["ownEntityId"]?.string ?? "")
      provider.signsRequests = own["signsRequests"]?.bool ?? false
      provider.callbackURL = own["callbackUrl"]?.string
      self.init(id, kind: .saml(provider))
    } else {
      return nil
    }
    displayName = json["displayName"]?.string
    isEnabled = json["enabled"]?.bool ?? false
  }

  var storedText: String {
    let own: (String, JSON?) =
      switch kind {
      case .openIDConnect(let provider):
        (
          "oidc",
          JSON(fields: [
            ("clientId", .string(provider.clientID)), ("issuer", .string(provider.issuer)),
            ("clientSecret", provider.clientSecret.map(JSON.string)), ("idToken", .bool(provider.answersIDToken)),
            ("code", .bool(provider.answersCode)),
          ])
        )
      case .saml(let provider):
        (
          "saml",
          JSON(fields: [
            ("entityId", .string(provider.entityID)), ("signInUrl", .string(provider.signInURL)),
            ("certificates", .array(provider.certificates.map(JSON.string))),
            ("ownEntityId", .string(provider.ownEntityID)), ("signsRequests", .bool(provider.signsRequests)),
            ("callbackUrl", provider.callbackURL.map(JSON.string)),
          ])
        )
      }
    return JSON(fields: [("displayName", displayName.map(JSON.string)), ("enabled", .bool(isEnabled)), own]).compactText
  }
}
