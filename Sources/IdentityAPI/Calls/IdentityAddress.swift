import NIOHTTP1

/// What a URL of the accounts' surface asks for: with or without Google's host in the path.
package enum IdentityAddress: Sendable, Hashable {
  /// A method, of the project in the path or of the caller's, and of the tenant there.
  case method(String, project: String?, tenant: String? = nil)
  case token
  case clientConfiguration
  case recaptchaParameters
  case recaptchaConfiguration
  case passwordPolicy
  case configuration(project: String)
  case tenants(project: String)
  case tenant(String, project: String)
  /// The configurations of providers of one family, or the one of a name.
  case providers(ProviderFamily, project: String, tenant: String?, name: String?)
  /// Part of the protocol, and not of this server.
  case unsupported(Unsupported)
  case emulatorAccounts(project: String, tenant: String?)
  case emulatorCodes(project: String, tenant: String?)
  case emulatorPhoneCodes(project: String, tenant: String?)
  case emulatorConfiguration(project: String)
  case action
  case signInPage
  case signInFrame
  case certificates
  case keys

  /// Which configurations of providers there are, as paths call them.
  package enum ProviderFamily: String, Sendable, Hashable {
    case openIDConnect = "oauthIdpConfigs"
    case saml = "inboundSamlConfigs"
  }

  /// What this server does not have.
  package enum Unsupported: Sendable, Hashable {
    /// A method of passkeys, such as `passkeySignIn:start`.
    case passkeys(String)
    /// Google, Apple and the others whose addresses everybody knows.
    case defaultProviders
  }

  private static let hosts: Set<String> = [
    "identitytoolkit.googleapis.com", "securetoken.googleapis.com", "www.googleapis.com",
  ]
  private static let signer = "securetoken@system.gserviceaccount.com"

  /// Reads a path's segments; nil if the path is none of this surface's.
  package init?(_ path: [String]) {
    guard let first = path.first else { return nil }
    let isPrefixed = Self.hosts.contains(first)
    let rest = isPrefixed ? path[1...] : path[...]
    guard let found = Self.read(Array(rest)) else { return nil }
    self = found
  }

  /// Whether the path names one of Google's hosts: then nothing else here answers it.
  package static func isPrefixed(_ path: [String]) -> Bool { path.first.map(hosts.contains) ?? false }

  private static func read(_ path: [String]) -> IdentityAddress? {
    switch path.first {
    case "v1": read(v1: Array(path.dropFirst()))
    case "v2": read(v2: Array(path.dropFirst()))
    case "identitytoolkit": read(legacy: path)
    case "emulator": read(emulator: Array(path.dropFirst()))
    // Where Firebase's own pages are, below every site that it hosts.
    case "__" where path == ["__", "auth", "action"]: .action
    case "robot" where path == ["robot", "v1", "metadata", "x509", signer]: .certificates
    case "service_accounts" where path == ["service_accounts", "v1", "jwk", signer]: .keys
    case ".well-known" where path == [".well-known", "jwks.json"]: .keys
    default: nil
    }
  }

  private static func read(v1 path: [String]) -> IdentityAddress? {
    switch path.count {
    case 1:
      if path[0] == "token" { return .token }
      if path[0] == "projects" { return .clientConfiguration }
      if path[0] == "recaptchaParams" { return .recaptchaParameters }
      return named(path[0], project: nil)
    case 2 where path[0] == "projects":
      let parts = path[1].split(separator: ":", maxSplits: 1).map(String.init)
      guard parts.count == 2, parts[1] == "createSessionCookie" else { return nil }
      return .method(parts[1], project: parts[0])
    case 3 where path[0] == "projects": return named(path[2], project: path[1])
    case 4 where path[0] == "projects" && path[2] == "tenants":
      let parts = path[3].split(separator: ":", maxSplits: 1).map(String.init)
      guard parts.count == 2, parts[1] == "createSessionCookie" else { return nil }
      return .method(parts[1], project: path[1], tenant: parts[0])
    case 5 where path[0] == "projects" && path[2] == "tenants":
      return named(path[4], project: path[1], tenant: path[3])
    default: return nil
    }
  }

  private static func named(_ segment: String, project: String?, tenant: String? = nil) -> IdentityAddress? {
    if segment == "accounts" { return project == nil ? nil : .method("signUp", project: project, tenant: tenant) }
    guard segment.hasPrefix("accounts:") else { return nil }
    let name = String(segment.dropFirst("accounts:".count))
    return IdentityRoute.byName[name].map { .method($0.name, project: project, tenant: tenant) }
  }

  private static func read(v2 path: [String]) -> IdentityAddress? {
    switch path.first {
    case "projects" where path.count == 3 && path[2] == "config": .configuration(project: path[1])
    case "projects" where path.count > 2: read(resource: Array(path.dropFirst(2)), project: path[1])
    case "accounts" where path.count == 2 && path[1].hasPrefix("passkey"): .unsupported(.passkeys(path[1]))
    case let name? where path.count == 1 && name.hasPrefix("accounts:passkey"):
      .unsupported(.passkeys(String(name.dropFirst("accounts:".count))))
    case "recaptchaConfig" where path.count == 1: .recaptchaConfiguration
    case "passwordPolicy" where path.count == 1: .passwordPolicy
    case "accounts" where path.count == 2 && path[1].hasPrefix("mfa"):
      IdentityRoute.byName[path[1]].map { .method($0.name, project: nil) }
    case let name? where path.count == 1 && name.hasPrefix("accounts:mfa"): named(name, project: nil)
    default: nil
    }
  }

  /// What is below `/v2/projects/{p}/`, but for the configuration.
  private static func read(resource path: [String], project: String) -> IdentityAddress? {
    if path[0] == "tenants", path.count > 2 { return read(configuration: Array(path[2...]), project: project, tenant: path[1]) }
    guard path[0] == "tenants" else { return read(configuration: path, project: project, tenant: nil) }
    return path.count == 1 ? .tenants(project: project) : .tenant(path[1], project: project)
  }

  private static func read(configuration path: [String], project: String, tenant: String?) -> IdentityAddress? {
    if path[0] == "defaultSupportedIdpConfigs" { return .unsupported(.defaultProviders) }
    guard path.count <= 2, let family = ProviderFamily(rawValue: path[0]) else { return nil }
    return .providers(family, project: project, tenant: tenant, name: path.count == 2 ? path[1] : nil)
  }

  private static func read(legacy path: [String]) -> IdentityAddress? {
    guard path.count == 4, path[1] == "v3", path[2] == "relyingparty" else { return nil }
    switch path[3] {
    case "getProjectConfig": return .clientConfiguration
    case "getRecaptchaParam": return .recaptchaParameters
    case "publicKeys": return .certificates
    default: return IdentityRoute.legacyNames[path[3]].map { .method($0, project: nil) }
    }
  }

  private static func read(emulator path: [String]) -> IdentityAddress? {
    if path == ["action"] || path == ["auth", "action"] { return .action }
    if path == ["auth", "handler"] { return .signInPage }
    if path == ["auth", "iframe"] { return .signInFrame }
    guard path.count >= 4, path[0] == "v1", path[1] == "projects" else { return nil }
    let isTenants = path.count == 6 && path[3] == "tenants"
    guard path.count == 4 || isTenants, let name = path.last else { return nil }
    let tenant = isTenants ? path[4] : nil
    return switch name {
    case "accounts": .emulatorAccounts(project: path[2], tenant: tenant)
    case "oobCodes": .emulatorCodes(project: path[2], tenant: tenant)
    case "verificationCodes": .emulatorPhoneCodes(project: path[2], tenant: tenant)
    case "config" where tenant == nil: .emulatorConfiguration(project: path[2])
    default: nil
    }
  }
}
