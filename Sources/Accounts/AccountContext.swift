package import StorageCore

/// A project: the name that tokens bear, and the namespace whose players it has (`P` and `P-default-rtdb`).
package struct AccountProject: Sendable, Hashable {
  /// The `aud` of its tokens.
  package let name: String
  package let namespace: NamespaceID
  /// Which of its accounts are meant.
  package let scope: AccountScope

  package init(name: String, namespace: NamespaceID, scope: AccountScope = .all) {
    self.name = name
    self.namespace = namespace
    self.scope = scope
  }

  /// The same project, and other accounts of it.
  package func within(_ scope: AccountScope) -> AccountProject {
    AccountProject(name: name, namespace: namespace, scope: scope)
  }

  /// What tells the project's players from those of each tenant, where something is kept in memory. No project has a slash.
  var scopeName: String { scope.tenant.map { "\(name)/\($0)" } ?? name }

  /// Under which name limits count an account.
  func limitKey(_ account: String) -> String { scope.tenant.map { "\($0)/\(account)" } ?? account }

  /// The name of a project's namespace.
  package static func namespaceName(of project: String) -> String { "\(project)-default-rtdb" }

  /// The number that the protocol gives where it wants one: nothing depends on it.
  package var number: String { "12345" }
}

/// Whose accounts a request is about, who makes it, and from where.
package struct AccountContext: Sendable {
  package let project: AccountProject
  /// The administrator who asks; nil for a client.
  package let administrator: Actor?
  /// By what limits tell clients apart: an address, of IPv6 its network.
  package let network: String
  /// Where this server is, as the client sees it: `http://127.0.0.1:9000`. Links in mails begin with it.
  package let serverURL: String
  /// The client's key, for links in mails.
  package let apiKey: String
  /// The languages that the caller reads, the best first: mails come in one of them.
  package let locales: [String]

  package init(
    project: AccountProject, administrator: Actor? = nil, network: String, serverURL: String = "", apiKey: String = "",
    locales: [String] = []
  ) {
    self.project = project
    self.administrator = administrator
    self.network = network
    self.serverURL = serverURL
    self.apiKey = apiKey
    self.locales = locales
  }

  /// The same request for other accounts of the project.
  package func within(_ scope: AccountScope) -> AccountContext {
    AccountContext(
      project: project.within(scope), administrator: administrator, network: network, serverURL: serverURL, apiKey: apiKey,
      locales: locales)
  }

  /// Who a change of an account is recorded for: the administrator, or the player whose account it is.
  func actor(for uid: String) -> Actor { administrator ?? .user(uid: uid) }
}

/// What a player gets who is signed in.
package struct IssuedTokens: Sendable, Hashable {
  package let idToken: String
  package let refreshToken: String
  /// How long the ID token is good, in seconds.
  package let lifetime: Int64
}

/// What a sign-in ends with: tokens, or the wait for a second factor.
package enum SignInResult: Sendable, Hashable {
  case tokens(IssuedTokens)
  /// The player goes on with this credential, and shows one of these factors.
  case secondFactorNeeded(credential: String, factors: [SecondFactor])

  /// The tokens; nil while a second factor is missing.
  package var tokens: IssuedTokens? {
    guard case .tokens(let tokens) = self else { return nil }
    return tokens
  }
}

/// A player who signed in or signed up.
package struct SignedInAccount: Sendable {
  package let account: AccountRecord
  /// Whether the account was made by this sign-in.
  package let isNew: Bool
  package let result: SignInResult
}
