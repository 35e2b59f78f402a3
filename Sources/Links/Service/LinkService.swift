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
    /// By inviter and by campaign; and who came, by link and by inviter: see ``LinkIndex``.
    static let index = "link_by"
    /// What the index is whole for.
    static let indexMark = "link_by_mark"
    /// Invitations, which the invitation service writes.
    static let invitation = "invite"
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

  /// Opens the links of a project, with the settings that were stored last.
  ///
  /// - `settings`: of the configuration file; nil if they are an administrator's to change.
  /// - `isLimited`: whether ``LinkSettings/limits`` hold; they do not in development.
  /// - `cacheBytes`: how much memory opened links may take.
  package init(
    engine: any StorageEngine, writer: any TreeWriter, home: any LinkNamespace, clock: any WallClock,
    random: any RandomNumberGenerator & Sendable, settings: LinkSettings? = nil, isLimited: Bool = true,
    cacheBytes: Int = 64 << 20
  ) throws {
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
      let stored = try engine.read { snapshot in
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
  ///
  /// - Throws: ``LinkError/settingsInFile`` if the configuration file holds them.
  package func put(_ settings: LinkSettings) async throws {
    guard !isConfigured else { throw LinkError.settingsInFile }
    try await commit([KeyedRecordChange(kind: Kind.setting, key: "settings", value: settings.document)])
    state.withLock { $0.hosts = LinkHosts(settings) }
    cache.removeAll()
    try await prepare()
    // The settings say which parameter names an inviter.
    _ = try await directory.buildIndex()
  }

  /// Makes what openings need, so that none has to wait for it.
  package func prepare() async throws {
    if !settings.domains.isEmpty { _ = try await clickKey() }
  }

  /// The namespace that links are kept in, whose tree says who was invited; nil before the first write.
  package var namespace: NamespaceID? { home.known() }

  /// Which link an installation, or an opening of the app, came from.
  package var attribution: LinkAttribution { LinkAttribution(links: self) }

  /// Links by inviter, campaign and text, and who came by them.
  package var directory: LinkDirectory { LinkDirectory(links: self) }

  /// Who invited whom.
  package var claims: LinkClaims { LinkClaims(links: self) }

  // MARK: The key of clicks

  /// The key that proofs of clicks are made with, made at the first need. It is in the store: with it one could claim
  /// clicks that never were, which anybody can have by opening the link.
  func clickKey() async throws -> SymmetricKey {
    if let key = state.withLock(\.key) { return key }
    let bytes = random.withLock { random in (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) } }
    // If a concurrent request has stored a key meanwhile, that one counts.
    try await commit([
      KeyedRecordChange(kind: Kind.setting, key: "click_key", value: Hex.encode(bytes), expecting: .absent)
    ])
    guard let key = try stored(Kind.setting, key: "click_key").flatMap(Self.clickKey) else {
      throw LinkError.unavailable("The key of clicks cannot be read; restore a backup.")
    }
    state.withLock { $0.key = key }
    return key
  }

  /// The key if it is known: on the way of an opening nothing waits.
  var knownClickKey: SymmetricKey? { state.withLock(\.key) }

  // MARK: Storage

  /// Reads from a snapshot; nil if there is no namespace yet.
  func read<Value>(_ body: (any Snapshot, NamespaceID) throws -> Value) throws -> Value? {
    guard let namespace = home.known() else { return nil }
    do {
      return try engine.read { snapshot in try body(snapshot, namespace) }
    } catch let error as StorageError {
      throw LinkError.unavailable(error.message)
    }
  }

  /// The stored form of one record; nil if there is none.
  func stored(_ kind: String, key: String) throws -> String? {
    try read { snapshot, namespace in try snapshot.record(in: namespace, kind: kind, key: key) } ?? nil
  }

  /// How a commit ended whose author expected records or leaves to be as they were read.
  enum CommitOutcome: Hashable {
    case committed
    /// A record is not what was expected: nothing was written.
    case recordChanged(kind: String)
    /// A leaf is not what was expected: nothing was written.
    case leafChanged
  }

  /// Commits records only.
  @discardableResult
  func commit(_ records: [KeyedRecordChange], actor: Actor = .system("links")) async throws -> CommitOutcome {
    try await commit { request in
      request.actor = actor
      request.rows.records = records
    }
  }

  /// Commits a request of the links' own.
  @discardableResult
  func commit(_ fill: (inout CommitRequest) -> Void) async throws -> CommitOutcome {
    do throws(CommitError) {
      var request = CommitRequest(namespace: try await home.open(), actor: .system("links"))
      fill(&request)
      _ = try await writer.commit(request)
      return .committed
    } catch {
      switch error.code {
      case .recordChanged(let kind, _, _): return .recordChanged(kind: kind)
      case .stale: return .leafChanged
      case .overloaded: throw LinkError.overloaded(error.message)
      case .unavailable: throw LinkError.unavailable(error.message)
      default: throw LinkError.refused(error.message)
      }
    }
  }

  private static func settings(_ text: String) throws -> LinkSettings {
    do {
      return try LinkSettings(document: text, isStored: true)
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
