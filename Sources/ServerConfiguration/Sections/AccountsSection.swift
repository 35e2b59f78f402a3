import Accounts
import Credentials
import TreeModel

/// `accounts`: how players sign in, and for how long they are remembered.
struct AccountsSection: ConfigurationSection {
  let options: AccountOptions
  /// Other issuers of ID tokens that are trusted.
  let issuers: [TrustedIssuer]

  init(_ reader: ConfigurationReader) {
    var options = AccountOptions()
    if let url = reader.text("publicURL") {
      let isAddress = (url.hasPrefix("https://") || url.hasPrefix("http://")) && !url.hasSuffix("/")
      if !isAddress {
        reader.report(
          "publicURL",
          message: "\"accounts.publicURL\" must be an address such as \"https://game.example.com\", without a slash at its end."
        )
      }
      options.publicURL = url
    }
    options.authorizedDomains = Set(reader.texts("authorizedDomains") ?? [])
    if case .bool(false) = reader.value("anonymousLifetime")?.content {
      options.anonymousLifetime = nil
    } else {
      options.anonymousLifetime =
        reader.duration("anonymousLifetime", range: 3_600_000...3_650 * 86_400_000) ?? options.anonymousLifetime
    }
    options.personalPaths = reader.texts("personalPlaces") ?? []
    for text in options.personalPaths where (try? PathPattern(parsing: text))?.isPersonal != true {
      reader.report(
        "personalPlaces",
        message:
          "\"\(text)\" in \"accounts.personalPlaces\" must be a path with one capture for the player: \"/leaderboard/{uid}\".")
    }
    options.signUpsPerHour = reader.integer("signUpsPerHour", range: 1...1_000_000) ?? options.signUpsPerHour
    options.passwordsPerClient = reader.rate("passwordsPerClient", default: options.passwordsPerClient)
    options.codesPerClient = reader.rate("codesPerClient", default: options.codesPerClient)
    options.codesPerRecipient = reader.rate("codesPerRecipient", default: options.codesPerRecipient)
    if case .bool(false) = reader.value("sessionIdle")?.content {
      options.sessionIdleMax = nil
    } else {
      options.sessionIdleMax = reader.duration("sessionIdle", range: 86_400_000...3_650 * 86_400_000) ?? options.sessionIdleMax
    }
    if case .bool(false) = reader.value("recentSignIn")?.content {
      options.recentSignIn = nil
    } else {
      options.recentSignIn = reader.duration("recentSignIn", range: 60_000...365 * 86_400_000) ?? options.recentSignIn
    }
    if case .bool(false) = reader.value("paidIdentities")?.content {
      options.paidIdentityLifetime = nil
    } else {
      options.paidIdentityLifetime =
        reader.duration("paidIdentities", range: 86_400_000...3_650 * 86_400_000) ?? options.paidIdentityLifetime
    }
    options.sessionsMax = reader.integer("sessionsPerAccount", range: 1...10_000) ?? options.sessionsMax
    options.failuresMax = reader.integer("wrongPasswords", range: 1...1000) ?? options.failuresMax
    options.codeLifetime = reader.duration("codeLifetime", range: 60_000...7 * 86_400_000) ?? options.codeLifetime
    options.hashingThreads = reader.integer("hashingThreads", range: 1...64) ?? options.hashingThreads
    self.options = options
    issuers = Self.issuers(reader)
  }

  private static func issuers(_ reader: ConfigurationReader) -> [TrustedIssuer] {
    let providers = (reader.sections("providers", type: ProviderSection.self) ?? []).compactMap(\.issuer)
    let projects = (reader.sections("firebaseProjects", type: FirebaseProjectSection.self) ?? []).compactMap(\.issuer)
    for (key, issuers) in [("providers", providers), ("firebaseProjects", projects)] {
      for (index, issuer) in issuers.enumerated() {
        let others = issuers[..<index]
        if others.contains(where: { $0.provider.id == issuer.provider.id }) {
          reader.report(key, message: "\(issuer.provider.id) has two entries; one entry takes all its audiences.")
        } else if others.contains(where: { !$0.provider.issuers.isDisjoint(with: issuer.provider.issuers) }) {
          reader.report(
            key, message: "\(issuer.provider.id) has the issuer of another provider; tokens could not be told apart.")
        }
      }
    }
    return providers + projects
  }
}

/// One entry of `accounts.providers`: another issuer whose ID tokens players sign in with.
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
    let id = reader.required("id", example: "google.com")
    let isLegal = id.map { Self.isLegal($0) } ?? true
    if !isLegal {
      reader.report("id", message: "A provider's id is \"google.com\", \"apple.com\", or a name such as \"oidc.guild\".")
    }
    let audiences = Set(reader.texts("audiences") ?? [])
    if audiences.isEmpty {
      reader.report(
        "audiences",
        message:
          "\"\(reader.path("audiences"))\" must name the client ids (of Apple: bundle ids) that tokens are issued for; any other "
          + "application's tokens would do without.")
    }
    let keys = reader.address("keys")
    let issuerName = Self.issuer(reader, id: id)
    let vouches = reader.flag("trustEmail")
    let opensTree = reader.flag("database") ?? false
    let prefix = reader.text("uidPrefix") ?? ""
    if !prefix.isEmpty, !opensTree {
      reader.report(
        "uidPrefix", message: "\"uidPrefix\" belongs to \"database\": true; who signs in gets a user id from this server.")
    }
    if prefix.utf8.contains(where: { "./#$[]".utf8.contains($0) }) || prefix.utf8.count > 32 {
      reader.report(
        "uidPrefix", message: "\"uidPrefix\" must be at most 32 characters, without . / # $ [ ], for it stands in paths.")
    }
    let authority = reader.path(of: "ca")
    guard let id, isLegal, !audiences.isEmpty,
      let provider = Self.provider(id, audiences: audiences, issuer: issuerName, keys: keys)
    else {
      issuer = nil
      return
    }
    issuer = TrustedIssuer(
      provider: provider.with(keys: keys.map { .document($0) }, vouchesForEmail: vouches),
      use: opensTree ? .signInAndTree(uidPrefix: prefix) : .signIn, authority: authority)
  }

  /// The issuer as it is named; of a provider that is known none must be.
  private static func issuer(_ reader: ConfigurationReader, id: String?) -> String? {
    let isKnown = id.map { known[$0] != nil } ?? true
    let issuer = reader.address("issuer")
    if isKnown, issuer != nil {
      reader.report("issuer", message: "The issuer of \(id ?? "this provider") is known; leave \"issuer\" out.")
    }
    if !isKnown, !reader.has("issuer") {
      reader.report(
        "issuer",
        message: "\"\(reader.path("issuer"))\" is missing: the \"iss\" of its tokens, such as \"https://id.example.com\".")
    }
    return issuer
  }

  private static func provider(_ id: String, audiences: Set<String>, issuer: String?, keys: String?) -> IdentityProvider? {
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

/// One entry of `accounts.firebaseProjects`: a project at Firebase whose players are players here, with the same ids.
struct FirebaseProjectSection: ConfigurationSection {
  /// Nil if something is wrong.
  let issuer: TrustedIssuer?

  init(_ reader: ConfigurationReader) {
    let project = reader.required("project", example: "treasure-hunt")
    let keys = reader.address("keys")
    let authority = reader.path(of: "ca")
    guard let project else {
      issuer = nil
      return
    }
    if !ServeConfiguration.isProject(project) {
      reader.report("project", message: "\"\(project)\" is no Firebase project's id: 1 to 48 letters, digits and hyphens.")
    }
    issuer = TrustedIssuer(
      provider: .firebase(project: project).with(keys: keys.map { .document($0) }), use: .firebase, authority: authority)
  }
}
