import ClientRuntime
public import Dispatch
public import Foundation

/// Where the server is, and how the library behaves in this app. Set everything before ``DoubloonApp/configure()``: the app takes
/// a copy, later changes do nothing.
public final class FirebaseOptions: Sendable {
  /// All members, as one value.
  struct Members: Sendable {
    var server: String?
    var apiKey: String?
    var googleAppID = ""
    var gcmSenderID = ""
    var projectID: String?
    var databaseURL: String?
    var bundleID = ""
    var deepLinkURLScheme: String?
    var storageBucket: String?
    var dynamicLinkDomains: [String] = []
    var storageFolder: String?
    var certificateFile: String?
    var automaticDataCollection: Bool?
    var usesOwnNetworkCode = false
    var queue = DispatchQueue.main
    var clock: (any AppClock)?
    var log: (@Sendable (String) -> Void)?
    var sessionStore: (any SessionStore)?
  }

  private let members: Locked<Members>

  init(_ members: Members) { self.members = Locked(members) }

  /// Options for a server of one's own: one origin serves accounts, database, links and messages.
  ///
  /// - `server`: such as `https://play.example.com`; `doubloon dev` listens at `http://127.0.0.1:9000`.
  /// - `apiKey`: one of the keys in the links' settings; for accounts and the database alone any text does.
  public convenience init(server: URL, apiKey: String) {
    var members = Members()
    (members.server, members.apiKey) = (server.absoluteString, apiKey)
    self.init(members)
  }

  /// Options by the names of Firebase's.
  public convenience init(googleAppID: String, gcmSenderID: String) {
    var members = Members()
    (members.googleAppID, members.gcmSenderID) = (googleAppID, gcmSenderID)
    self.init(members)
  }

  /// The options of a configuration file, the same object each time; nil if there is none that can be read.
  ///
  /// Looked for, in this order: the file that the variable `DOUBLOON_CONFIG` names, `Doubloon.json` and
  /// `GoogleService-Info.plist` beside the executable or in the bundle. `Doubloon.json` holds `server`, `apiKey` and, where
  /// they are needed, `projectID`, `databaseURL`, `bundleID`, `deepLinkURLScheme`, `dynamicLinkDomains`, `storageFolder`.
  public static func defaultOptions() -> FirebaseOptions? { ConfigurationFile.standard }

  /// The origin that everything is asked of: `server`, or that of `databaseURL`.
  var address: ServiceAddress? { (copy.server ?? copy.databaseURL).flatMap { ServiceAddress($0) } }

  var copy: Members { members.copy }

  private subscript<Value>(path: WritableKeyPath<Members, Value>) -> Value {
    get { members.withLock { $0[keyPath: path] } }
    set { members.withLock { $0[keyPath: path] = newValue } }
  }
}

extension FirebaseOptions {
  /// The key of the app; no secret.
  public var apiKey: String? {
    get { self[\.apiKey] }
    set { self[\.apiKey] = newValue }
  }
  /// The app's id at Firebase; here it names the folder of the app's files where there is no bundle id.
  public var googleAppID: String {
    get { self[\.googleAppID] }
    set { self[\.googleAppID] = newValue }
  }
  /// Kept for files of Firebase's; not used.
  public var gcmSenderID: String {
    get { self[\.gcmSenderID] }
    set { self[\.gcmSenderID] = newValue }
  }
  /// The project; the first label of `databaseURL`'s host, without `-default-rtdb`, unless it is set.
  public var projectID: String? {
    get { self[\.projectID] ?? ConfigurationFile.project(of: self[\.databaseURL]) }
    set { self[\.projectID] = newValue }
  }
  /// Where the database is, with the namespace in `?ns=` or as the first label of the host; the server itself unless it is set.
  public var databaseURL: String? {
    get { self[\.databaseURL] }
    set { self[\.databaseURL] = newValue }
  }
  /// The app's bundle id: what links are made for, and the scheme of links unless ``deepLinkURLScheme`` is set.
  public var bundleID: String {
    get { self[\.bundleID].isEmpty ? Bundle.main.bundleIdentifier ?? "" : self[\.bundleID] }
    set { self[\.bundleID] = newValue }
  }
  /// The scheme of URLs by which links open the app.
  public var deepLinkURLScheme: String? {
    get { self[\.deepLinkURLScheme] }
    set { self[\.deepLinkURLScheme] = newValue }
  }
  /// Kept for files of Firebase's; there is no storage.
  public var storageBucket: String? {
    get { self[\.storageBucket] }
    set { self[\.storageBucket] = newValue }
  }
  /// The prefixes of the server's links, such as `https://go.example.com/r`: what ``DynamicLinks`` takes for one of its own.
  public var dynamicLinkDomains: [String] {
    get { self[\.dynamicLinkDomains] }
    set { self[\.dynamicLinkDomains] = newValue }
  }
  /// Where the session and the database's cache are kept: `$XDG_STATE_HOME/doubloon/APP` on Linux, Application Support on
  /// Apple's systems.
  public var storageFolder: String {
    get { self[\.storageFolder] ?? ConfigurationFile.standardFolder(for: self) }
    set { self[\.storageFolder] = newValue }
  }
  /// A file of certificates in PEM form that vouch for the server's, instead of those of the system; for a server with an authority
  /// of its own.
  public var certificateFile: String? {
    get { self[\.certificateFile] }
    set { self[\.certificateFile] = newValue }
  }
  /// Where all completion closures and listeners run: the main queue unless it is set. A program without an event loop needs
  /// another one, or the async functions.
  public var callbackQueue: DispatchQueue {
    get { self[\.queue] }
    set { self[\.queue] = newValue }
  }
  /// The time, for tests; the system's clock unless it is set.
  public var clock: (any AppClock)? {
    get { self[\.clock] }
    set { self[\.clock] = newValue }
  }
  /// Gets the library's log lines; standard error unless it is set. They never hold passwords, tokens or keys.
  public var logHandler: (@Sendable (String) -> Void)? {
    get { self[\.log] }
    set { self[\.log] = newValue }
  }
  /// Whether the library's own network code is used on Apple's systems, too, instead of the system's. Elsewhere it always is.
  public var usesOwnNetworkCode: Bool {
    get { self[\.usesOwnNetworkCode] }
    set { self[\.usesOwnNetworkCode] = newValue }
  }
  /// Where the session of the signed-in player is kept: on Apple's systems the keychain, elsewhere a file in ``storageFolder``
  /// which only its owner may read, unless it is set.
  public var sessionStore: (any SessionStore)? {
    get { self[\.sessionStore] }
    set { self[\.sessionStore] = newValue }
  }
}

/// The time, and waiting. For tests that do not want to wait.
public protocol AppClock: Sendable {
  /// The time of day.
  var now: Date { get }
  /// Returns after that many seconds, or throws when the task ended.
  func sleep(seconds: Double) async throws
}

/// Where a session is kept between two runs of the app. Its content is a secret: who has it is signed in.
public protocol SessionStore: Sendable {
  /// What was saved last; nil if there is nothing, or nothing readable.
  func load() -> Data?
  /// Replaces what is there; nil removes it.
  func save(_ session: Data?) throws
}
