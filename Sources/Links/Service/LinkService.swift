import Crypto
package import StorageCore
import Synchronization
import TextFormats
import TreeModel

/// All links of a project: creates them, opens them, counts what becomes of them, and says who invited whom.
///
/// Everything that changes goes through the one writer; what is opened is served from memory (Links.docc).
package final class LinkService: Sendable {
  /// Kinds of records.
  enum Kind {
    static let link = "link"
    /// By what a link says, so that equal ones are one.
    static let same = "link_same"
    /// Where links were that an administrator deleted.
    static let deleted = "link_deleted"
    /// By what a long link says: the short links that say it and are switched off.
    static let off = "link_off"
    /// By what can be typed.
    static let code = "link_code"
    /// What was used: `click/ID`, `install/ID`, and by whom: `player/UID`.
    static let claim = "link_claim"
    static let setting = "link_setting"
    /// Marks of invitations: `ID/clicked`.
    static let mark = "invite_mark"
  }

  let engine: any StorageEngine
  let writer: any TreeWriter
  let home: any LinkNamespace
  let clock: any WallClock
  let cache: LinkCache
  let counter = LinkCounter()
  let recent = RecentClicks()
  let random: Mutex<any RandomNumberGenerator & Sendable>
  /// The settings, and the key of the proofs of clicks; nil until the first is needed.
  private let state: Mutex<State>
  /// Whether the configuration file holds the settings, so that nobody else changes them.
  package let isConfigured: Bool
  /// Whether clients may create so many links, and try so many codes, as the settings say; in development any number.
  let isLimited: Bool
  let creations = RateWindow(span: 1000)
  let dailyCreations = RateWindow(span: 86_400_000)
  let codeTries = RateWindow(span: 60_000)

  private struct State {
    var hosts: LinkHosts
    var key: SymmetricKey?
    /// How long short suffixes are by now.
    var shortLength = 4
    /// Whether a long link may be switched off.
    var hasDisabledForms = false
  }

  /// Opens the book, with the settings that were stored last.
  ///
  /// - `settings`: of the configuration file; nil if they are an administrator's to change.
  /// - `isLimited`: whether ``LinkSettings/limits`` hold; they do not in development.
  /// - `cacheBytes`: how much memory opened links may take.
  package init(
    engine: any StorageEngine, writer: any TreeWriter, home: any LinkNamespace, clock: any WallClock,
    random: any RandomNumberGenerator & Sendable, settings: LinkSettings? = nil, isLimited: Bool = true,
    cacheBytes: Int = 64 << 20
  ) throws(StorageError) {
    self.engine = engine
    self.writer = writer
    self.home = home
    self.clock = clock
    self.random = Mutex(random)
    cache = LinkCache(bytesMax: cacheBytes)
    isConfigured = settings != nil
    self.isLimited = isLimited
    var state = State(hosts: LinkHosts(settings ?? LinkSettings()))
    if let namespace = home.known() {
      let stored = try engine.read { (snapshot) throws(StorageError) in
        (
          settings: try snapshot.record(in: namespace, kind: Kind.setting, key: "settings"),
          key: try snapshot.record(in: namespace, kind: Kind.setting, key: "click_key"),
          off: try snapshot.records(in: namespace, kind: Kind.off, after: nil, isDescending: false, limit: 1)
        )
      }
      if settings == nil, let text = stored.settings { state.hosts = LinkHosts(try Self.settings(text)) }
      state.key = stored.key.flatMap(Self.clickKey)
      state.hasDisabledForms = !stored.off.isEmpty
    }
    self.state = Mutex(state)
  }

  /// The settings as they are now.
  package var settings: LinkSettings { hosts.settings }

  /// The same, with what openings look up worked out.
  package var hosts: LinkHosts { state.withLock(\.hosts) }

  /// Whether a long link may be switched off, so that it is worth while to look.
  package internal(set) var hasDisabledForms: Bool {
    get { state.withLock(\.hasDisabledForms) }
    set { state.withLock { $0.hasDisabledForms = newValue } }
  }

  var shortLength: Int {
    get { state.withLock(\.shortLength) }
    set { state.withLock { $0.shortLength = max($0.shortLength, newValue) } }
  }

  /// Replaces the settings.
  package func put(_ settings: LinkSettings) async throws(LinkError) {
    guard !isConfigured else {
      throw LinkError(
        .failedPrecondition, "The link settings are in the configuration file; change them there and start again.")
    }
    try await commit(
      records: [KeyedRecordChange(kind: Kind.setting, key: "settings", value: settings.json.text)], actor: .system("links"))
    state.withLock { $0.hosts = LinkHosts(settings) }
    cache.removeAll()
    try await prepare()
  }

  /// Makes what openings need, so that none has to wait for it.
  package func prepare() async throws(LinkError) {
    if !settings.domains.isEmpty { _ = try await clickKey() }
  }

  // MARK: The key of clicks

  /// The key that proofs of clicks are made with, made at the first need. It is in the store: whoever has it could claim
  /// clicks that never were, which is what anybody can have by opening the link.
  func clickKey() async throws(LinkError) -> SymmetricKey {
    if let key = state.withLock(\.key) { return key }
    let bytes = random.withLock { random in (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) } }
    do throws(LinkError) {
      try await commit(
        records: [KeyedRecordChange(kind: Kind.setting, key: "click_key", value: Hex.encode(bytes), expecting: .absent)],
        actor: .system("links"))
    } catch  where error.reason == Self.changed {
      // Somebody else was first.
    }
    let stored = try await reading { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.setting, key: "click_key")
    }
    guard let key = stored.flatMap({ $0.flatMap(Self.clickKey) }) else {
      throw LinkError(.unavailable, "The key of clicks cannot be read; restore a backup.")
    }
    state.withLock { $0.key = key }
    return key
  }

  /// The key if it is known: on the way of an opening nothing waits.
  var knownClickKey: SymmetricKey? { state.withLock(\.key) }

  // MARK: Storage

  /// The reason of a fault that says: a record is not what was expected.
  static let changed = "record_changed"

  /// Reads something; nil if there is no namespace yet.
  func reading<Value>(_ body: (any Snapshot, NamespaceID) throws(StorageError) -> Value) async throws(LinkError) -> Value? {
    try looking(body)
  }

  /// The same at once.
  func looking<Value>(_ body: (any Snapshot, NamespaceID) throws(StorageError) -> Value) throws(LinkError) -> Value? {
    guard let namespace = home.known() else { return nil }
    do throws(StorageError) {
      return try engine.read { (snapshot) throws(StorageError) in try body(snapshot, namespace) }
    } catch {
      throw LinkError(.unavailable, error.message)
    }
  }

  func commit(records: [KeyedRecordChange], actor: Actor) async throws(LinkError) {
    try await commit { request in
      request.actor = actor
      request.rows.records = records
    }
  }

  /// Commits a request of the links' own.
  ///
  /// - Throws: with the reason ``changed`` if an expectation failed.
  @discardableResult
  func commit(_ fill: (inout CommitRequest) -> Void) async throws(LinkError) -> CommitReceipt {
    do throws(CommitError) {
      var request = CommitRequest(namespace: try await home.open(), actor: .system("links"))
      fill(&request)
      return try await writer.commit(request)
    } catch {
      switch error.code {
      case .recordChanged(let kind, let key, _):
        throw LinkError(.alreadyExists, "\(kind)/\(key)", reason: Self.changed)
      case .stale: throw LinkError(.alreadyExists, error.message, reason: "stale")
      case .overloaded: throw LinkError(.resourceExhausted, error.message)
      case .unavailable: throw LinkError(.unavailable, error.message)
      default: throw LinkError(.failedPrecondition, error.message)
      }
    }
  }

  private static func settings(_ text: String) throws(StorageError) -> LinkSettings {
    do {
      return try LinkSettings(json: try JSONParser.parse(text), isStored: true)
    } catch {
      throw StorageError(.damaged, "The stored link settings cannot be read: \(error)")
    }
  }

  private static func clickKey(_ text: String) -> SymmetricKey? {
    Hex.decode(text).map { SymmetricKey(data: $0) }
  }
}

/// Where links are kept: the namespace of the project, which may not be there before the first link.
package protocol LinkNamespace: Sendable {
  /// The namespace, if it exists.
  func known() -> NamespaceID?
  /// The namespace, made if it does not exist.
  func open() async throws(CommitError) -> NamespaceID
}
