import APISupport
import AdminAPI
import Logging
import NIOPosix
import ServerConfiguration
import StorageCore
import Synchronization
import TreeDatabase
import Triggers

/// Looks after the server itself: every few seconds at the store, the process and the disk, for the metrics, and in production
/// for what a person must be told of.
///
/// Its looks wait for the disk, so they happen on a thread of their own pool and not where requests are answered. What they cost
/// does not depend on how often somebody asks for the metrics.
final class ServerMonitor: Sendable {
  /// How often it looks, in milliseconds: a scrape of every 15 seconds sees nothing older.
  static let interval: Int64 = 10_000

  private struct State {
    var machine: MachineSight?
    var board: AlertBoard
    /// When each certificate ends, by the state of its files.
    var certificates: [String: (stamp: [Int64], validUntil: Int64)] = [:]
    /// Whether the last look at the store failed: the log says when that begins.
    var isBlind = false
  }

  let watch: StoreWatch
  private let configuration: ServerConfiguration
  let conditions: AlertConditions
  /// Nil where the data folder is the truth.
  private let cluster: (@Sendable () -> ClusterSight)?
  private let outbox: OutboxDispatcher
  private let posts: [AlertPost]
  private let logger: Logger
  private let startedAt: Int64
  private let state: Mutex<State>

  /// What is looked at.
  struct Sources {
    let watch: StoreWatch
    let database: Database
    let outbox: OutboxDispatcher
    let metrics: ServerMetrics
    /// Nil where the data folder is the truth.
    let cluster: (@Sendable () -> ClusterSight)?
  }

  /// - `ways`: how people are told; none: the log says it alone.
  /// - `board`: what they were told by the term before; nil for the first.
  init(
    _ sources: Sources, configuration: ServerConfiguration, ways: [any AlertWay], board: AlertBoard?, logger: Logger
  ) {
    let settings = configuration.alerts ?? AlertSettings()
    watch = sources.watch
    outbox = sources.outbox
    cluster = sources.cluster
    self.configuration = configuration
    self.logger = logger
    conditions = AlertConditions(
      database: sources.database, watch: sources.watch, maintenance: sources.metrics.maintenance, settings: settings)
    posts = ways.map { AlertPost($0, clock: configuration.clock, logger: logger) }
    startedAt = configuration.clock.now()
    state = Mutex(State(board: board ?? AlertBoard(interval: settings.minimumInterval)))
  }

  /// What is seen of the nodes; nil where the data folder is the truth.
  var sight: ClusterSight? { cluster?() }

  /// What people were told of, for the next term.
  var board: AlertBoard { state.withLock(\.board) }

  /// How people are told, as the configuration says.
  ///
  /// - Throws: what the TLS library says against the mail server's authorities.
  static func ways(_ configuration: ServerConfiguration) throws -> [any AlertWay] {
    guard let settings = configuration.alerts else { return [] }
    var ways: [any AlertWay] = []
    if let webhook = settings.webhook { ways.append(AlertWebhook(webhook, project: configuration.project)) }
    if let mail = configuration.mail, !settings.mail.isEmpty {
      ways.append(try AlertMail(mail, recipients: settings.mail, project: configuration.project))
    }
    return ways
  }

  /// What runs beside the ports.
  var services: [BackgroundService] {
    [BackgroundService(name: "monitor", run)] + posts.map { BackgroundService(name: "alerts by \($0.name)", $0.run) }
  }

  /// Looks at once and then every few seconds, until the task is cancelled.
  @Sendable private func run() async throws {
    while true {
      try await NIOThreadPool.singleton.runIfActive { self.look() }
      try await configuration.clock.sleep(until: configuration.clock.now() + Self.interval)
    }
  }

  /// One look, on a thread that may wait for the disk.
  func look() {
    do {
      try watch.look()
      state.withLock { $0.isBlind = false }
    } catch {
      let isFirst = state.withLock { state in
        defer { state.isBlind = true }
        return !state.isBlind
      }
      if isFirst { logger.warning("the store cannot be looked into for the metrics", metadata: ["why": "\(error)"]) }
    }
    let folder: String? = if case .directory(let folder) = configuration.storage { folder } else { nil }
    var machine = MachineSight(folder: folder)
    machine.certificates = certificates()
    let now = configuration.clock.now()
    var found = conditions.found(on: machine, at: now)
    if let trouble = sight?.trouble { found[.nodeSilent] = trouble }
    let notices = state.withLock { state in
      state.machine = machine
      return state.board.update(found, at: now)
    }
    // In development the terminal says what happens as it happens.
    guard configuration.mode == .production else { return }
    for notice in notices { tell(notice) }
  }

  private func tell(_ notice: AlertNotice) {
    logger.log(
      level: notice.state == .firing ? .error : .notice, "alert",
      metadata: [
        "kind": "\(notice.kind.rawValue)", "state": "\(notice.state.rawValue)", "summary": "\(notice.summary)",
      ])
    for post in posts { post.add(notice) }
  }

  /// Reads a certificate again only when its files changed.
  private func certificates() -> [MachineSight.Certificate] {
    configuration.certificates.compactMap { files in
      let stamp = files.stamp
      let known = state.withLock { $0.certificates[files.certificate] }
      if let known, known.stamp == stamp {
        return MachineSight.Certificate(file: files.certificate, validUntil: known.validUntil)
      }
      guard let validUntil = files.validUntil else { return nil }
      state.withLock { $0.certificates[files.certificate] = (stamp, validUntil) }
      return MachineSight.Certificate(file: files.certificate, validUntil: validUntil)
    }
  }
}

// MARK: - Metrics

extension ServerMonitor {
  /// What the metrics say beside what the surfaces know of.
  var families: [MetricFamily] {
    let (machine, active) = state.withLock { ($0.machine, $0.board.active) }
    return general + (machine ?? MachineSight(folder: nil)).families + outboxFamilies + alertFamilies(active)
      + (sight?.families ?? [])
  }

  private var general: [MetricFamily] {
    let labels = [(name: "version", value: configuration.build.version), (name: "commit", value: configuration.build.commit)]
    return [
      MetricFamily.gauge("doubloon_build_info", help: "1, with the version and the commit of the program.")
        .with(1, labels: labels),
      .gauge(
        "process_start_time_seconds", help: "When the server was started, in seconds since 1970.",
        value: Double(startedAt) / 1000),
    ]
  }

  private var outboxFamilies: [MetricFamily] {
    let report = outbox.report
    func each(_ name: String, help: String, _ read: (OutboxCounts) -> Int) -> MetricFamily {
      .counter(name, help: help).with(report.outlets, label: "outlet") { ($0.name, Double(read($0.counts))) }
    }
    return [
      MetricFamily.gauge("doubloon_outbox_messages", help: "Messages to the outside in memory: due, on their way, for later.")
        .with([("due", report.ready), ("sending", report.running), ("later", report.later)], label: "state") {
          ($0.0, Double($0.1))
        },
      each("doubloon_outbox_delivered_total", help: "Messages that the other side has taken, mails among them.", \.delivered),
      each("doubloon_outbox_failures_total", help: "Attempts that failed, and are made again.", \.failed),
      each("doubloon_outbox_dead_total", help: "Messages that were given up.", \.dead),
    ]
  }

  private func alertFamilies(_ active: Set<AlertKind>) -> [MetricFamily] {
    func each(_ name: String, help: String, _ read: (AlertPost.Counts) -> Int) -> MetricFamily {
      .counter(name, help: help).with(posts, label: "way") { ($0.name, Double(read($0.counts))) }
    }
    return [
      MetricFamily.gauge("doubloon_alert_active", help: "1 for a kind of trouble that there is now.")
        .with(AlertKind.allCases, label: "kind") { ($0.rawValue, active.contains($0) ? 1 : 0) },
      each("doubloon_alerts_sent_total", help: "Alerts that the other side has taken.", \.sent),
      each("doubloon_alert_failures_total", help: "Attempts to send an alert that failed.", \.failures),
      each("doubloon_alerts_dropped_total", help: "Alerts that were given up, or made space for newer ones.", \.dropped),
    ]
  }
}
