import Accounts
import Credentials
import TreeModel

/// `accounts`: how players sign in, and for how long they are remembered.
struct AccountsSection: ConfigurationSection {
  let options: AccountOptions
  /// Who else says who players are.
  let issuers: [TrustedIssuer]

  init(_ reader: ConfigurationReader) {
    var options = AccountOptions()
    if let url = reader.text("publicURL") {
      let isAddress = (url.hasPrefix("https://") || url.hasPrefix("http://")) && !url.hasSuffix("/")
      if !isAddress {
        reader.fault(
          "publicURL",
          "\"accounts.publicURL\" must be an address such as \"https://game.example.com\", without a slash at its end.")
      }
      options.publicURL = url
    }
    options.authorizedDomains = Set(reader.texts("authorizedDomains") ?? [])
    if case .bool(false) = reader.value("anonymousLifetime")?.content {
      options.anonymousLifetime = nil
    } else {
      options.anonymousLifetime =
        reader.duration("anonymousLifetime", 3_600_000...3_650 * 86_400_000) ?? options.anonymousLifetime
    }
    options.personalPlaces = reader.texts("personalPlaces") ?? []
    for text in options.personalPlaces where (try? PathPattern(parsing: text))?.isPersonal != true {
      reader.fault(
        "personalPlaces",
        "\"\(text)\" in \"accounts.personalPlaces\" must be a path with one capture for the player: \"/leaderboard/{uid}\".")
    }
    options.signUpsPerHour = reader.integer("signUpsPerHour", 1...1_000_000) ?? options.signUpsPerHour
    options.passwordsPerClient = reader.rate("passwordsPerClient", default: options.passwordsPerClient)
    options.codesPerClient = reader.rate("codesPerClient", default: options.codesPerClient)
    options.codesPerRecipient = reader.rate("codesPerRecipient", default: options.codesPerRecipient)
    if case .bool(false) = reader.value("sessionIdle")?.content {
      options.sessionIdleMax = nil
    } else {
      options.sessionIdleMax = reader.duration("sessionIdle", 86_400_000...3_650 * 86_400_000) ?? options.sessionIdleMax
    }
    if case .bool(false) = reader.value("recentSignIn")?.content {
      options.recentSignIn = nil
    } else {
      options.recentSignIn = reader.duration("recentSignIn", 60_000...365 * 86_400_000) ?? options.recentSignIn
    }
    if case .bool(false) = reader.value("paidIdentities")?.content {
      options.paidIdentityLifetime = nil
    } else {
      options.paidIdentityLifetime =
        reader.duration("paidIdentities", 86_400_000...3_650 * 86_400_000) ?? options.paidIdentityLifetime
    }
    options.sessionsMax = reader.integer("sessionsPerAccount", 1...10_000) ?? options.sessionsMax
    options.failuresMax = reader.integer("wrongPasswords", 1...1000) ?? options.failuresMax
    options.codeLifetime = reader.duration("codeLifetime", 60_000...7 * 86_400_000) ?? options.codeLifetime
    options.hashingThreads = reader.integer("hashingThreads", 1...64) ?? options.hashingThreads
    self.options = options
    issuers = Self.issuers(reader)
  }

  private static func issuers(_ reader: ConfigurationReader) -> [TrustedIssuer] {
    let providers = (reader.sections("providers", ProviderSection.self) ?? []).compactMap(\.issuer)
    let projects = (reader.sections("firebaseProjects", FirebaseProjectSection.self) ?? []).compactMap(\.issuer)
    for (key, issuers) in [("providers", providers), ("firebaseProjects", projects)] {
      for (index, issuer) in issuers.enumerated() {
        let others = issuers[..<index]
        if others.contains(where: { $0.provider.id == issuer.provider.id }) {
          reader.fault(key, "\(issuer.provider.id) stands here twice; one entry takes all its audiences.")
        } else if others.contains(where: { !$0.provider.issuers.isDisjoint(with: issuer.provider.issuers) }) {
          reader.fault(key, "\(issuer.provider.id) has the issuer of another provider; tokens could not be told apart.")
        }
      }
    }
    return providers + projects
  }
}
