import APISupport
import HTTPServer
import NIOCore
import StorageCore
import TreeDatabase
import TreeModel

/// Tells one page of the console that something has happened: not what, for it reads the windows that it shows again.
///
/// So a message has a few hundred bytes, whatever is committed, and one that a slow client does not take is left out: the next
/// says as much.
final class LiveStream: EventStreamSource {
  /// How often the head of the namespace is looked at.
  static let interval = TimeAmount.milliseconds(100)
  static let beatsOfPatience = 300
  /// Beats from one look at the figures to the next. Then the figures tell of the newest commit, too, so that a page hears no more
  /// than one message in a beat.
  private static let beatsOfStatistics = 10

  private let source: LiveSource
  private var connection: EventConnection?
  private var beats = 0
  /// Whether the next message is of the figures.
  private var owesStatistics = false
  /// The newest commit that the page was told of; nil before the first message.
  private var revision: Revision?

  init(source: LiveSource) {
    self.source = source
  }

  func begin(_ connection: EventConnection) {
    self.connection = connection
    askForRevision(connection)
  }

  func beat() {
    guard let connection else { return }
    // The disk may need longer for the newest commit; how it stands with the server is told all the same.
    if owesStatistics, let revision { tellStatistics(revision, connection) }
    beats &+= 1
    if beats.isMultiple(of: Self.beatsOfStatistics) {
      if let reason = source.reasonToEnd { return finish(reason) }
      owesStatistics = revision != nil
    }
    askForRevision(connection)
  }

  func serverStops() { finish("The server stops.") }

  func end() { connection = nil }

  /// Looks which commit is the newest, and tells of it once it is durable.
  private func askForRevision(_ connection: EventConnection) {
    let (stream, eventLoop) = (NIOLoopBound(self, eventLoop: connection.eventLoop), connection.eventLoop)
    let isThere = source.findRevision { revision in eventLoop.execute { stream.value.tell(revision) } }
    if !isThere { finish("The namespace was deleted.") }
  }

  private func tell(_ now: Revision) {
    guard let connection else { return }
    guard let revision else {
      if connection.send("hello", source.hello(now)) { self.revision = now }
      return
    }
    let isNew = now > revision
    if owesStatistics { return tellStatistics(isNew ? now : revision, connection) }
    // What was left out is told at a later beat.
    if isNew, connection.send("revision", ["revision": .int(now.rawValue)]) { self.revision = now }
  }

  private func tellStatistics(_ now: Revision, _ connection: EventConnection) {
    guard connection.send("stats", source.statistics(now)) else { return }
    (revision, owesStatistics) = (now, false)
  }

  private func finish(_ reason: String) {
    connection?.send("bye", ["reason": .string(reason)])
    connection?.close()
  }
}

/// What a page of the console is told of.
struct LiveSource: Sendable {
  let services: AdminServices
  /// The namespace's name.
  let name: String
  let namespace: NamespaceID
  let caller: Caller
  /// The session of the page; nil for a client that has sent a token.
  let session: String?

  /// Finds the newest commit.
  ///
  /// - `found`: called when it is durable: at once, or soon on another thread; never, where it will not be.
  /// - Returns: false where the namespace is gone.
  func findRevision(_ found: @escaping @Sendable (Revision) -> Void) -> Bool {
    let engine = services.database.engine
    let look = try? engine.readAhead { (snapshot) throws(StorageError) -> Revision in
      try snapshot.head(of: namespace).revision
    }
    guard let look, services.database.namespace(named: name) == namespace else { return false }
    engine.whenDurable(look.position) { isDurable in if isDurable { found(look.result) } }
    return true
  }

  /// Why the page may not listen any more; nil while it may.
  var reasonToEnd: String? {
    if services.authenticator.isVoid(caller) { return "The credential was revoked." }
    // A session ends by its own time.
    if let session { return services.sessions?.isOver(session) == true ? "The session is over." : nil }
    return (caller.validUntil ?? .max) <= services.database.clock.now() ? "The credential has ended." : nil
  }

  func hello(_ revision: Revision) -> JSON {
    ["revision": .int(revision.rawValue), "build": .string(services.consoleBuild), "stats": statistics(revision)]
  }

  /// What is true now, and what was counted since the start.
  func statistics(_ revision: Revision) -> JSON {
    let (metrics, now, figures) = (services.metrics, services.database.clock.now(), services.figures)
    let sight = services.watch?.latest
    let dead = sight?.deadLetters.reduce(0) { $0 + $1.count } ?? 0
    let lag = sight?.oldestPending.map { max(0, now - $0) } ?? 0
    let quickest = services.series.lagP95(now: now, bounds: metrics.effectBounds)
    return [
      "time": .int(now), "revision": .int(revision.rawValue), "commits": .int(figures.commits),
      "events": .int(figures.events), "grants": .int(figures.entries),
      "deadLetters": .int(Int64(dead)), "waiting": .int(figures.waiting), "paused": .int(Int64(sight?.paused.count ?? 0)),
      "running": .int(Int64(services.functions?.backlog.running ?? 0)), "listens": .int(figures.listens),
      "sockets": .int(Int64(metrics.sockets.open)), "streams": .int(Int64(metrics.streams.current)),
      "queue": .int(figures.queue), "effectLag": .int(lag), "lagP95Micros": quickest.map { .int($0) } ?? .null,
    ]
  }
}
