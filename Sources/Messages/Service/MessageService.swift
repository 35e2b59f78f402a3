import Crypto
package import StorageCore
import Synchronization
import TextFormats
package import TreeModel

/// All messages of a project: campaigns, who gets which, what became of them.
///
/// Campaigns that are published are in memory; instances, marks, events and counts are keyed records of the project's namespace,
/// and everything that changes goes through the one writer.
package final class MessageService: Sendable {
  /// Kinds of records beside those of instances, marks, events and counts.
  enum Kind {
    static let campaign = "message"
    /// `CAMPAIGN/VERSION`.
    static let version = "message_version"
    static let setting = "message_setting"
    /// Orders of tests: `INSTANCE/CAMPAIGN`.
    static let test = "message_test"
    /// What was reported already.
    static let log = "message_log"
  }

  private struct State {
    var settings = MessageSettings()
    /// Published campaigns, and drafts that have test devices, in the order in which they are offered.
    var offered: [Campaign] = []
    /// Counted in memory, until it is written.
    var served: [MessageCountKey: Int64] = [:]
    var fetches: TokenBuckets<String>
    var logs: TokenBuckets<String>
    /// Reports by the network that they come from, and of all together.
    var networks: TokenBuckets<String>
    var reports: TokenBuckets<String>
    var totals = MessageTotals()

    init(reports limit: RateLimit) {
      fetches = TokenBuckets(limit: RateLimit(60, per: 60_000, burst: 10))
      logs = TokenBuckets(limit: RateLimit(60, per: 60_000, burst: 20))
      networks = TokenBuckets(limit: RateLimit(max(1, limit.count / 10), per: limit.period, burst: max(1, limit.burst / 10)))
      reports = TokenBuckets(limit: limit, capacity: 2)
    }
  }

  let engine: any StorageEngine
  let writer: any TreeWriter
  let home: any MessageNamespace
  package let clock: any WallClock
  let surroundings: CampaignSurroundings
  let waiting: WaitingCampaigns
  /// Apps that listen.
  package let hub: MessageHub
  let random: Mutex<any RandomNumberGenerator & Sendable>
  /// Whether instances that nobody registered are taken in.
  package let isDevelopment: Bool
  /// Whether the configuration file holds the settings, so that nobody else changes them.
  package let isConfigured: Bool
  /// Where it stands who invited a player.
  let referrer: PathPattern?
  /// Campaigns that there may be, deleted ones not counted.
  let campaignsMax: Int
  private let state: Mutex<State>
  /// Held while campaigns are read again, so that what was read earlier never replaces what was read later.
  private let reloading = Mutex(())

  /// Opens the messages of a project, with what was stored last.
  ///
  /// - `hub`: also to be given to the database as an observer.
  package init(
    engine: any StorageEngine, writer: any TreeWriter, home: any MessageNamespace, clock: any WallClock,
    random: any RandomNumberGenerator & Sendable, surroundings: CampaignSurroundings, hub: MessageHub,
    options: MessageOptions = MessageOptions()
  ) throws {
    self.engine = engine
    self.writer = writer
    self.home = home
    self.clock = clock
    self.surroundings = surroundings
    self.hub = hub
    waiting = hub.waiting
    self.random = Mutex(random)
    referrer = options.referrer
    campaignsMax = options.campaignsMax
    isDevelopment = options.isDevelopment
    isConfigured = options.settings != nil
    var state = State(reports: options.reportLimit)
    if isDevelopment { state.settings.fetchInterval = 10_000 }
    if let settings = options.settings { state.settings = settings }
    self.state = Mutex(state)
    if options.settings == nil, let text = try stored(Kind.setting, key: "settings"), let json = try? JSONParser.parse(text) {
      let settings = try MessageSettings(json: json)
      self.state.withLock { $0.settings = settings }
    }
    try reload()
  }

  // MARK: What is in memory

  /// The settings as they are now.
  package var settings: MessageSettings { state.withLock(\.settings) }

  /// Replaces the settings.
  package func put(_ json: JSON) async throws -> MessageSettings {
    guard !isConfigured else { throw MessageError.settingsInFile }
    let settings = try MessageSettings(json: json)
    try await commit { request in
      request.rows.records = [KeyedRecordChange(kind: Kind.setting, key: "settings", value: settings.json.compactText)]
    }
    state.withLock { $0.settings = settings }
    try reload()
    hub.refresh()
    return settings
  }

  /// The campaigns that clients can get, the first first.
  var offered: [Campaign] { state.withLock(\.offered) }

  /// Reads the campaigns again that clients can get.
  func reload() throws { try reloading.withLock { _ in try readCampaigns() } }

  private func readCampaigns() throws {
    let all = try campaigns()
    let offered = all.filter { $0.state == .published || ($0.state == .draft && !$0.document.testDevices.isEmpty) }
    var content = WaitingCampaigns.Content()
    content.lifetime = settings.eventDays * 86_400_000
    for campaign in offered where campaign.state == .published {
      for trigger in campaign.document.serverTriggers { content.triggers[trigger.name, default: []].append(trigger.conditions) }
      guard let goal = campaign.document.conversion else { continue }
      content.converting.append(campaign)
      if goal.isServer { content.goals[goal.event, default: []].append(campaign) }
    }
    let sorted = offered.sorted { a, b in
      let (x, y) = (a.document.priority, b.document.priority)
      if x != y { return x < y }
      let (s, t) = (a.span(in: nil, zones: surroundings.zones).start, b.span(in: nil, zones: surroundings.zones).start)
      return s == t ? a.id.utf8.lexicographicallyPrecedes(b.id.utf8) : s > t
    }
    state.withLock { $0.offered = sorted }
    waiting.replace(content, in: home.known())
  }

  /// Whether an instance may fetch, or report, now.
  package func admits(_ instance: String, logging isLog: Bool) -> Bool {
    let now = clock.now()
    return state.withLock { state in
      (isLog ? state.logs.take(instance, at: now) : state.fetches.take(instance, at: now)) == .allowed
    }
  }

  /// Whether so many reports may come in now, at most as many as one batch holds: of one network a tenth of what the project
  /// takes in, so that a client with many installations leaves room for the others.
  package func admitsReports(_ count: Int, from network: String) -> Bool {
    let now = clock.now()
    return state.withLock { state in
      guard state.networks.take(network, at: now, cost: count) == .allowed else { return false }
      if state.reports.take("", at: now, cost: count) == .allowed { return true }
      state.networks.giveBack(network, cost: count)
      return false
    }
  }

  /// Counts reports that are about nothing that is known here.
  package func countUnknown(_ count: Int) { state.withLock { $0.totals.unknown += count } }

  /// Counts what is written later.
  func countServed(_ keys: [MessageCountKey]) {
    state.withLock { state in
      state.totals.served += keys.count
      for key in keys where state.served.count < 100_000 || state.served[key] != nil { state.served[key, default: 0] += 1 }
    }
  }

  /// What happened since the start, for the metrics.
  package var totals: MessageTotals { state.withLock(\.totals) }

  func count(_ kinds: [MessageCount]) {
    state.withLock { state in
      for kind in kinds {
        switch kind {
        case .impression: state.totals.impressions += 1
        case .click: state.totals.clicks += 1
        case .error: state.totals.errors += 1
        default: continue
        }
      }
    }
  }

  // MARK: Life

  /// How often counts are written, in milliseconds.
  private static let flushInterval: Int64 = 5000
  /// How often what is old is removed.
  private static let pruneInterval: Int64 = 3_600_000
  /// How often it is counted what waits.
  private static let countInterval: Int64 = 60_000

  /// Tells apps of events, until the task is cancelled.
  @Sendable package func tell() async throws {
    await hub.run { [self] uid in (try? events(of: uid))?.filter { $0.shownAt == nil } ?? [] }
    throw CancellationError()
  }

  /// Writes counts and removes what is old, until the task is cancelled; then writes what is left.
  @Sendable package func run() async throws {
    var (pruned, counted): (Int64, Int64) = (0, 0)
    while true {
      do {
        try await clock.sleep(until: clock.now() + Self.flushInterval)
      } catch {
        try? await flush()
        throw error
      }
      // The next round tries again: counts are kept until they are written.
      try? await flush()
      let now = clock.now()
      if now - pruned >= Self.pruneInterval {
        pruned = now
        try? await prune()
      }
      if now - counted >= Self.countInterval {
        counted = now
        try? countPending()
      }
    }
  }

  /// Events that are counted at most.
  private static let pendingMax = 100_000

  /// Counts the events that wait to be told, for the metrics.
  func countPending() throws {
    var found = 0
    _ = try read { snapshot, namespace in
      var last: String?
      repeat {
        let page = try snapshot.records(
          in: namespace, kind: MessageEvent.kind, after: last, isDescending: false, limit: 1000)
        found += page.count
        last = page.count == 1000 ? page.last?.key : nil
      } while last != nil && found < Self.pendingMax
    }
    let pending = found
    state.withLock { $0.totals.pending = pending }
  }

  /// Writes what was counted.
  package func flush() async throws {
    let counts = state.withLock { state in
      defer { state.served = [:] }
      return state.served
    }
    guard !counts.isEmpty else { return }
    do {
      let adding = RecordDecision { session, namespace, time throws(StorageError) in
        let marks = MessageMarks(session: session, namespace: namespace, time: time)
        for (key, more) in counts { try marks.count(key, by: more) }
      }
      try await commit { $0.decision = adding }
    } catch {
      state.withLock { $0.served.merge(counts) { $0 + $1 } }
      throw error
    }
  }

  // MARK: Storage

  /// Reads from a snapshot; nil if there is no namespace yet.
  func read<Value>(_ body: (any Snapshot, NamespaceID) throws -> Value) throws -> Value? {
    guard let namespace = home.known() else { return nil }
    do {
      return try engine.read { snapshot in try body(snapshot, namespace) }
    } catch let error as StorageError {
      throw MessageError.unavailable(error.message)
    }
  }

  func stored(_ kind: String, key: String) throws -> String? {
    try read { snapshot, namespace in try snapshot.record(in: namespace, kind: kind, key: key) } ?? nil
  }

  /// The records of a kind whose keys begin with a text, at most `limit`.
  func records(_ kind: String, beginning prefix: String, limit: Int) throws -> [KeyedRecord] {
    try read { snapshot, namespace in
      try Self.records(kind, beginning: prefix, limit: limit, in: namespace, snapshot)
    } ?? []
  }

  static func records(
    _ kind: String, beginning prefix: String, limit: Int, in namespace: NamespaceID, _ snapshot: any Snapshot
  ) throws(StorageError) -> [KeyedRecord] {
    let rows = try snapshot.records(in: namespace, kind: kind, after: prefix, isDescending: false, limit: limit)
    return Array(rows.prefix { $0.key.utf8.starts(with: prefix.utf8) })
  }

  /// Commits a request of the messages' own.
  ///
  /// - Returns: false if a record was not what was expected.
  @discardableResult
  func commit(by actor: Actor = .system("messages"), _ fill: (inout CommitRequest) -> Void) async throws -> Bool {
    do throws(CommitError) {
      var request = CommitRequest(namespace: try await home.open(), actor: actor)
      fill(&request)
      _ = try await writer.commit(request)
      return true
    } catch {
      if case .recordChanged = error.code { return false }
      throw MessageError.unavailable(error.message)
    }
  }

  /// So many random bytes, as base64url.
  ///
  /// - `isInstance`: whether the first four bits are those of an installation's id.
  func secret(bytes count: Int, isInstance: Bool = false) -> String {
    random.withLock { random in
      var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      if isInstance { bytes[0] = 0x70 | bytes[0] & 0x0F }
      return Base64.encode(bytes, as: .url)
    }
  }

  static func hash(_ text: String) -> String { Hex.encode(SHA256.hash(data: Array(text.utf8))) }
}

/// What a project's messages are opened with.
package struct MessageOptions: Sendable {
  /// Where it stands who invited a player; nil where nobody says so.
  package var referrer: PathPattern?
  /// What the configuration file sets; nil if the settings are an administrator's to change.
  package var settings: MessageSettings?
  /// Whether instances that nobody registered are taken in.
  package var isDevelopment = false
  /// Campaigns that there may be, deleted ones not counted.
  package var campaignsMax = 1000
  /// Reports of all apps together: what is beyond is told to come later. One network has a tenth of it.
  package var reportLimit = RateLimit(12_000, per: 60_000, burst: 6000)

  package init() {}
}

/// What happened since the server began.
package struct MessageTotals: Sendable, Hashable {
  package internal(set) var served = 0
  package internal(set) var impressions = 0
  package internal(set) var clicks = 0
  package internal(set) var errors = 0
  /// Reports about campaigns and instances that are not known, and of kinds that are not.
  package internal(set) var unknown = 0
  /// Events that wait to be told, as they were counted last.
  package internal(set) var pending = 0
}

/// Where messages are kept: the namespace of the project, which may not be there before the first.
package protocol MessageNamespace: Sendable {
  /// The namespace, if it exists.
  func known() -> NamespaceID?
  /// The namespace, made if it does not exist.
  func open() async throws(CommitError) -> NamespaceID
}

/// Records that are read and put on the writer, with nothing in between.
final class RecordDecision: WriterDecision {
  private let body: @Sendable (any CommitSession, NamespaceID, Int64) throws(StorageError) -> Void

  init(_ body: @escaping @Sendable (any CommitSession, NamespaceID, Int64) throws(StorageError) -> Void) {
    self.body = body
  }

  func decide(in namespace: NamespaceID, at time: Int64, session: any CommitSession) throws(CommitError)
    -> [WriteOperation.Assignment]
  {
    do throws(StorageError) {
      try body(session, namespace, time)
    } catch {
      throw CommitError(error)
    }
    return []
  }
}
