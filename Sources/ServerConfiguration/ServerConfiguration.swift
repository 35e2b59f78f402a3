package import APISupport
package import Accounts
package import Backups
package import Credentials
package import HTTPServer
package import Links
package import Mail
package import MailContent
package import Messages
public import StorageCore
public import TreeModel

/// Everything that can be set about a server, with the defaults of `doubloon dev`.
public struct ServerConfiguration: Sendable {
  /// Where the data are.
  public enum Storage: Sendable, Hashable {
    /// In this folder.
    case directory(String)
    /// In a private temporary folder, removed at the end: the same engine, for tests and trials.
    case memory
  }

  /// The address to listen on; anything but a loopback address makes a random admin token necessary.
  public var host: String
  /// 0 takes any free port.
  public var port: Int
  /// Which data it serves. One process at a time has them open.
  public var storage: Storage
  /// The store in PostgreSQL whose working copy ``storage`` holds; nil: the folder is the truth.
  package var cluster: ClusterSettings?
  /// Requests that name no namespace mean `PROJECT-default-rtdb`.
  public var project: String
  /// What a client must present to be an admin.
  public var adminToken: String
  /// The kinds of coin, and where balances stand in the tree. A table that would mix balances up stops the start.
  public var currencies: [Currency]
  /// Overrides of functions' settings, by function and setting.
  public var functionSettings: TreeNode
  /// The settings of links, if the configuration holds them; nil: they are set over the administrators' surface.
  package var linkSettings: LinkSettings?
  /// The settings of in-app messages, if the configuration holds them.
  package var messageSettings: MessageSettings?
  /// The campaigns that are to be there: `{"campaigns": [ … ]}`; nil leaves them to administrators.
  package var messageCampaigns: JSON?
  /// A file of campaigns that is looked at again and again; nil for none.
  package var campaignFile: CampaignFile?
  /// Pictures that apps get from the server itself.
  package var messageImages: [MessageImageFile] = []
  /// Whether functions run. Commands that open the data themselves look without touching.
  public var dispatchesFunctions: Bool
  /// How much one commit may do, and how many may wait.
  public var limits: WriteLimits
  /// Threads that answer requests; nil for one for each core.
  public var eventLoops: Int?
  /// Threads that run functions.
  public var runners: Int
  /// How players' accounts are kept. In development, tokens are unsigned and codes are printed.
  package var accounts: AccountOptions
  /// What hashing a password costs.
  package var passwordCost: PasswordHasher.Cost
  /// How codes are mailed; nil: in development they are printed, in production the templates say it.
  package var codeMailing: (any CodeMailing)?
  /// What is to be done with a store that an older version wrote.
  public var upgrades: UpgradePolicy.Mode = .copied
  /// The schema that stores are to have; a test has one that never was.
  package var schema = SchemaHistory.released
  /// Where the time comes from; tests and `doubloon dev` move it.
  public var clock: any WallClock

  // What `doubloon serve` is told by its file.

  /// Development or production.
  package var mode = AccessPolicy.Mode.development
  /// Names, beside those that are nobody else's, that a server in development may be administered by.
  package var allowedHosts: [String] = []
  /// Administrators' tokens, beside ``adminToken`` in development.
  package var admins: [AdminToken] = []
  /// Other issuers of ID tokens that are trusted.
  package var issuers: [TrustedIssuer] = []
  /// How administrators may use the server by its own pages.
  package var console = ConsoleSettings()
  /// Namespaces that are made at the start.
  package var namespaces: [String] = []
  /// The rules that ``namespaces`` have.
  package var rules: RulesFile?
  /// Where this machine's own monitoring reads the metrics without a key; nil: nowhere.
  package var metricsAddress: PortAddress?
  /// The certificates to serve with; none: plain HTTP.
  package var certificates: [CertificateFiles] = []
  /// How often one address may ask for what; nil: as often as it likes.
  package var requestLimits: RequestLimits?
  /// Places and queries that all realtime clients of one network may listen to; nil: as many as they like.
  package var listensPerNetworkMax: Int?
  /// Bytes of input that all clients together may leave unfinished.
  package var unfinishedInputMax = MemoryBudgets.usualBytesMax
  /// Bytes of output that all clients together may leave unread.
  package var unreadOutputMax = MemoryBudgets.usualBytesMax
  /// How mail is sent; nil: in development it is shown, in production it waits for a configuration.
  package var mail: MailSettings?
  /// What is set about scheduled backups; nil: none are made.
  package var backups: BackupSettings?
  /// The files that all this was read from, for backups that hold them.
  package var configurationFiles: [String] = []
  /// Where settings were given, by the names that the file has for them; what is not here is the default.
  package var sources: [String: Setting.Source] = [:]
  /// Whom it tells when something needs a person; nil: the log alone.
  package var alerts: AlertSettings?
  /// The version and the commit that the program was built from, for the metrics.
  package var build = (version: "unknown", commit: "unknown")
  /// What mails say.
  package var templates = TemplateCatalog()
  /// How mails call the game; nil for the project's name.
  package var appName: String?
  /// How connections are treated; the host, the port and the threads are set above.
  package var http = HTTPServerConfiguration()

  /// The defaults of `doubloon dev`: port 9000 on this machine only, and the token that emulators know, `owner`.
  public init(storage: Storage) {
    host = "127.0.0.1"
    port = 9000
    self.storage = storage
    project = "demo"
    adminToken = "owner"
    currencies = [.piecesOfEight]
    functionSettings = .absent
    linkSettings = nil
    dispatchesFunctions = true
    limits = WriteLimits()
    eventLoops = nil
    runners = 4
    accounts = AccountOptions()
    accounts.isDevelopment = true
    accounts.followsEmulator = true
    accounts.signUpsPerHour = nil
    // Here all clients are one: tests that run in parallel may fill the queue.
    accounts.hashingQueuePerNetwork = accounts.hashingQueueMax
    accounts.hashingQueuePerAccount = accounts.hashingQueueMax
    accounts.paidIdentityLifetime = nil
    passwordCost = .recommended
    codeMailing = nil
    clock = SystemClock()
  }

  /// The namespace of requests that name none.
  public var defaultNamespace: String { "\(project)-default-rtdb" }

  /// Whether only this machine can reach the server.
  public var isLoopback: Bool { Self.isLoopback(host) }

  /// Whether an address is one that only this machine can reach.
  package static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "::1" || host.hasPrefix("127.")
  }
}

/// How the server's mail is sent.
package struct MailSettings: Sendable {
  package let server: SMTPConfiguration
  /// The sender of mails that name none.
  package let from: MailAddress
}

/// Another issuer of ID tokens that is trusted, as the configuration names it.
package struct TrustedIssuer: Sendable {
  /// In what the issuer is believed.
  package enum Use: Sendable, Hashable {
    /// Players sign in here with its tokens, and get this server's own.
    case signIn
    /// The same, and its tokens open the tree as they are. The prefix stands before its `sub` in user ids.
    case signInAndTree(uidPrefix: String)
    /// A project at Firebase: its tokens open the tree, with the same user ids.
    case firebase
  }

  package let provider: IdentityProvider
  package let use: Use
  /// A file of certificates that vouch for the issuer's server; nil for those that the system trusts.
  package let authority: String?

  package init(provider: IdentityProvider, use: Use, authority: String?) {
    self.provider = provider
    self.use = use
    self.authority = authority
  }

  /// Who verifies the issuer's tokens at the tree; nil if they do not open it.
  package var users: ForeignUsers? {
    switch use {
    case .signIn: nil
    case .signInAndTree(let prefix): ForeignUsers(provider: provider, isFirebase: false, uidPrefix: prefix)
    case .firebase: ForeignUsers(provider: provider, isFirebase: true)
    }
  }
}
