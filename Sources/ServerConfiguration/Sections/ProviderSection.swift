import Credentials

/// One entry of `accounts.providers`: somebody else whose ID tokens players sign in with.
struct ProviderSection: ConfigurationSection {
  /// Providers whose issuer and keys are known here.
  private static let known: [String: @Sendable (Set<String>) -> IdentityProvider] = [
    "google.com": IdentityProvider.google(clientIDs:), "apple.com": IdentityProvider.apple(clientIDs:),
  ]
  /// Names that accounts use for something else.
  private static let taken: Set<String> = ["password", "phone", "email", "anonymous", "custom", "firebase"]

  /// Nil if something is wrong.
  let issuer: TrustedIssuer?

  init(_ reader: ConfigurationReader) {
    let id = reader.required("id", "google.com")
    let isLegal = id.map { Self.isLegal($0) } ?? true
    if !isLegal {
      reader.fault("id", "A provider's id is \"google.com\", \"apple.com\", or a name such as \"oidc.guild\".")
    }
    let audiences = Set(reader.texts("audiences") ?? [])
    if audiences.isEmpty {
      reader.fault(
        "audiences",
        "\"\(reader.path("audiences"))\" must name the client ids (of Apple: bundle ids) that tokens are issued for; any other "
          + "application's tokens would do without.")
    }
    let keys = reader.address("keys")
    let place = Self.issuer(reader, id)
    let vouches = reader.flag("trustEmail")
    let opensTree = reader.flag("database") ?? false
    let prefix = reader.text("uidPrefix") ?? ""
    if !prefix.isEmpty, !opensTree {
      reader.fault("uidPrefix", "\"uidPrefix\" belongs to \"database\": true; who signs in gets a user id from this server.")
    }
    if prefix.utf8.contains(where: { "./#$[]".utf8.contains($0) }) || prefix.utf8.count > 32 {
      reader.fault("uidPrefix", "\"uidPrefix\" must be at most 32 characters, without . / # $ [ ], for it stands in paths.")
    }
    let authority = reader.path(of: "ca")
    guard let id, isLegal, !audiences.isEmpty, let provider = Self.provider(id, audiences, issuer: place, keys: keys) else {
      issuer = nil
      return
    }
    issuer = TrustedIssuer(
      provider: provider.with(keys: keys.map { .document($0) }, vouchesForEmail: vouches),
      use: opensTree ? .signInAndTree(uidPrefix: prefix) : .signIn, authority: authority)
  }

  /// The issuer as it is named; of a provider that is known none must be.
  private static func issuer(_ reader: ConfigurationReader, _ id: String?) -> String? {
    let isKnown = id.map { known[$0] != nil } ?? true
    let issuer = reader.address("issuer")
    if isKnown, issuer != nil {
      reader.fault("issuer", "The issuer of \(id ?? "this provider") is known; leave \"issuer\" out.")
    }
    if !isKnown, !reader.has("issuer") {
      reader.fault(
        "issuer",
        "\"\(reader.path("issuer"))\" is missing: the \"iss\" of its tokens, such as \"https://id.example.com\".")
    }
    return issuer
  }

  private static func provider(_ id: String, _ audiences: Set<String>, issuer: String?, keys: String?) -> IdentityProvider? {
    if let make = known[id] { return make(audiences) }
    guard let issuer else { return nil }
    return IdentityProvider(
      id: id, issuers: [issuer], audiences: audiences, keys: keys.map { .document($0) } ?? .discovery(issuer: issuer))
  }

  private static func isLegal(_ id: String) -> Bool {
    id.utf8.count <= 100 && !taken.contains(id) && !id.hasPrefix("firebase.")
      && id.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || "-_.".utf8.contains($0) }
  }
}
