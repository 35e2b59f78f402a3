import Accounts
import TextFormats
import TreeModel

/// The configuration of an identity provider on the wire
/// (https://cloud.google.com/identity-platform/docs/reference/rest/v2/projects.oauthIdpConfigs, `…inboundSamlConfigs`).
enum ProviderFields {
  private static let textMax = 2048
  private static let secretMax = 4096
  private static let certificatesMax = 10
  private static let certificateMax = 16 << 10

  /// Refuses a setting that there is not.
  static func check(_ body: JSON, of family: IdentityAddress.ProviderFamily, named paths: [[String]]) throws {
    guard body.object != nil else { throw IdentityError("INVALID_CONFIG", "((The configuration must be a JSON object.))") }
    let known: [[String]] =
      switch family {
      case .openIDConnect:
        [
          ["name"], ["displayName"], ["enabled"], ["clientId"], ["issuer"], ["clientSecret"], ["responseType", "idToken"],
          ["responseType", "code"],
        ]
      case .saml:
        [
          ["name"], ["displayName"], ["enabled"], ["idpConfig", "idpEntityId"], ["idpConfig", "ssoUrl"],
          ["idpConfig", "signRequest"], ["idpConfig", "idpCertificates"], ["spConfig", "spEntityId"],
          ["spConfig", "callbackUri"],
        ]
      }
    for path in paths where !known.contains(where: { $0.starts(with: path) }) {
      throw IdentityError.invalidArgument(
        "updateMask names \(path.joined(separator: ".").prefix(100)), which is no setting of a provider; nothing was changed.")
    }
    try FieldMask.check(body, named: paths, known: known)
  }

  // MARK: Showing

  static func json(_ configuration: ProviderConfiguration, of project: AccountProject) -> JSON {
    let parent = "projects/\(project.name)" + (project.scope.tenant.map { "/tenants/\($0)" } ?? "")
    let own: [(String, JSON?)]
    let family: IdentityAddress.ProviderFamily
    switch configuration.kind {
    case .openIDConnect(let provider): (own, family) = (members(provider), .openIDConnect)
    case .saml(let provider): (own, family) = (members(provider), .saml)
    }
    return JSON(
      fields: [
        ("name", .string("\(parent)/\(family.rawValue)/\(configuration.id)")),
        ("displayName", configuration.displayName.map(JSON.string)), ("enabled", .bool(configuration.isEnabled)),
      ] + own)
  }

  private static func members(_ provider: ProviderConfiguration.OpenIDConnect) -> [(String, JSON?)] {
    [
      ("clientId", .string(provider.clientID)), ("issuer", .string(provider.issuer)),
      ("clientSecret", provider.clientSecret.map(JSON.string)),
      ("responseType", ["idToken": .bool(provider.answersIDToken), "code": .bool(provider.answersCode)]),
    ]
  }

  private static func members(_ provider: ProviderConfiguration.SAML) -> [(String, JSON?)] {
    [
      (
        "idpConfig",
        [
          "idpEntityId": .string(provider.entityID), "ssoUrl": .string(provider.signInURL),
          "signRequest": .bool(provider.signsRequests),
          "idpCertificates": .array(provider.certificates.map { ["x509Certificate": .string($0)] }),
        ]
      ),
      (
        "spConfig",
        JSON(fields: [
          ("spEntityId", .string(provider.ownEntityID)), ("callbackUri", provider.callbackURL.map(JSON.string)),
        ])
      ),
    ]
  }

  // MARK: Reading

  static func read(
    _ json: JSON, as id: ProviderID, _ family: IdentityAddress.ProviderFamily, isDevelopment: Bool
  ) throws -> ProviderConfiguration {
    let fields = IdentityFields(json)
    let kind: ProviderConfiguration.Kind =
      switch family {
      case .openIDConnect: .openIDConnect(try openIDConnect(fields, isDevelopment: isDevelopment))
      case .saml: .saml(try saml(fields))
      }
    var configuration = ProviderConfiguration(id, kind: kind)
    configuration.displayName = try bounded(try fields.text("displayName"), as: "displayName")
    configuration.isEnabled = try fields.bool("enabled") ?? false
    return configuration
  }

  private static func openIDConnect(_ fields: IdentityFields, isDevelopment: Bool) throws
    -> ProviderConfiguration.OpenIDConnect
  {
    guard let clientID = try bounded(try fields.text("clientId"), as: "clientId") else {
      throw IdentityError("MISSING_OAUTH_CLIENT_ID")
    }
    guard let issuer = try bounded(try fields.text("issuer"), as: "issuer") else { throw IdentityError("MISSING_ISSUER") }
    let url = URLParts(issuer)
    let isAllowed = url.scheme == "https" || (isDevelopment && url.scheme == "http")
    guard isAllowed, url.authority?.isEmpty == false, url.query == nil else {
      throw IdentityError("INVALID_CONFIG", "((The issuer must be an https address without a query.))")
    }
    var provider = ProviderConfiguration.OpenIDConnect(clientID: clientID, issuer: issuer)
    provider.clientSecret = try bounded(try fields.text("clientSecret"), as: "clientSecret", max: secretMax)
    let response = try fields.object("responseType")
    provider.answersIDToken = try response?.bool("idToken") ?? false
    provider.answersCode = try response?.bool("code") ?? false
    if provider.answersCode, provider.clientSecret == nil { throw IdentityError("MISSING_OAUTH_CLIENT_SECRET") }
    return provider
  }

  private static func saml(_ fields: IdentityFields) throws -> ProviderConfiguration.SAML {
    let (theirs, own) = (try fields.object("idpConfig"), try fields.object("spConfig"))
    guard let entityID = try bounded(try theirs?.text("idpEntityId"), as: "idpEntityId"),
      let url = try bounded(try theirs?.text("ssoUrl"), as: "ssoUrl"),
      let ownEntityID = try bounded(try own?.text("spEntityId"), as: "spEntityId")
    else {
      throw IdentityError("INVALID_CONFIG", "((idpConfig.idpEntityId, idpConfig.ssoUrl and spConfig.spEntityId are needed.))")
    }
    guard URLParts(url).authority?.isEmpty == false else {
      throw IdentityError("INVALID_CONFIG", "((idpConfig.ssoUrl must be an address.))")
    }
    let certificates = try (try theirs?.list("idpCertificates") ?? []).map { entry -> String in
      let text = try bounded(try IdentityFields(entry).text("x509Certificate"), as: "x509Certificate", max: certificateMax)
      guard let text else { throw IdentityError("INVALID_CONFIG", "((A certificate has no x509Certificate.))") }
      return text
    }
    guard (1...certificatesMax).contains(certificates.count) else {
      throw IdentityError("INVALID_CONFIG", "((idpConfig.idpCertificates must hold 1 to \(certificatesMax).))")
    }
    var provider = ProviderConfiguration.SAML(
      entityID: entityID, signInURL: url, certificates: certificates, ownEntityID: ownEntityID)
    provider.signsRequests = try theirs?.bool("signRequest") ?? false
    provider.callbackURL = try bounded(try own?.text("callbackUri"), as: "callbackUri")
    return provider
  }

  /// A text that says something; nil for an empty one.
  private static func bounded(_ text: String?, as name: String, max: Int = textMax) throws -> String? {
    guard let text, !text.isEmpty else { return nil }
    guard text.utf8.count <= max else { throw IdentityError("INVALID_CONFIG", "((\(name) has more than \(max) bytes.))") }
    return text
  }
}
