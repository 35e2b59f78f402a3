import APISupport
import AdminModel
import HTTPServer
import NIOCore
import NIOPosix
import StorageCore
import TreeModel

/// Tells one client of the topics that it asked for, with the rows themselves, commit by commit.
///
/// Each message has the newest commit that it knows of as its id. Who comes back with one (`Last-Event-ID`), and who did not take
/// a message, is told of the gap, and reads again what it shows.
final class TopicStream: EventStreamSource {
  static let interval = TimeAmount.milliseconds(100)
  static let beatsOfPatience = 300
  /// Beats from one look at the figures, the replays and the credential to the next.
  private static let beatsOfStatistics = 10

  private let source: LiveSource
  private let wish: LiveWish
  private var connection: EventConnection?
  private var beats = 0
  /// The newest commit that the client was told of, or of which it was told that it was not; nil before the first message.
  private var revision: Revision?
  /// The last commit before those that the client was not told of.
  private var gap: Revision?
  /// Whether the store is being read for the client.
  private var isReading = false
  /// What was told of each replay.
  private var replays: [Int64: JSON] = [:]

  init(source: LiveSource, wish: LiveWish) {
    self.source = source
    self.wish = wish
  }

  func begin(_ connection: EventConnection) {
    self.connection = connection
    askForRevision(connection)
  }

  func beat() {
    guard let connection else { return }
    beats &+= 1
    askForRevision(connection)
    guard beats.isMultiple(of: Self.beatsOfStatistics) else { return }
    if let reason = source.reasonToEnd { return finish(reason) }
    guard let revision else { return }
    if wish.topics.contains(.stats) { send("stats", source.statistics(revision)) }
    if wish.topics.contains(.replay) {
      read(connection) { [source] in
        try source.replays()
      } found: {
        $0.tellReplays($1)
      }
    }
  }

  func serverStops() { finish("The server stops.") }

  func end() { connection = nil }

  private func askForRevision(_ connection: EventConnection) {
    let (stream, eventLoop) = (NIOLoopBound(self, eventLoop: connection.eventLoop), connection.eventLoop)
    let isThere = source.findRevision { revision in eventLoop.execute { stream.value.look(until: revision) } }
    if !isThere { finish("The namespace was deleted.") }
  }

  private func look(until now: Revision) {
    guard let connection else { return }
    guard let last = revision else {
      guard send("hello", source.hello(now), id: now) else { return }
      revision = now
      if let since = wish.since, since != now { gap = since }
      return tellGap()
    }
    tellGap()
    guard now > last, !isReading else { return }
    read(connection) { [source, wish] in
      try source.news(wish, after: last, through: now)
    } found: { stream, news in
      stream.tell(news, after: last, through: now)
    }
  }

  /// Reads on a thread that may wait for the disk.
  private func read<Found: Sendable>(
    _ connection: EventConnection, body: @escaping @Sendable () throws -> Found,
    found: @escaping @Sendable (TopicStream, Found?) -> Void
  ) {
    // One at a time, so that no commit is told of twice; who is not served now asks again at a later beat.
    guard !isReading else { return }
    isReading = true
    let (stream, eventLoop) = (NIOLoopBound(self, eventLoop: connection.eventLoop), connection.eventLoop)
    source.services.adminPool.submit { _ in
      let result = try? body()
      eventLoop.execute {
        stream.value.isReading = false
        found(stream.value, result)
      }
    }
  }

  /// - `news`: nil if the store could not be read; then there is a gap.
  private func tell(_ news: [LiveNews]?, after last: Revision, through now: Revision) {
    guard connection != nil else { return }
    revision = now
    var isTold = news != nil
    for item in news ?? [] where isTold { isTold = send(item.name, item.content, id: now) }
    if !isTold, gap == nil { gap = last }
  }

  private func tellGap() {
    guard let from = gap, let revision else { return }
    if send("gap", ["from": .int(from.rawValue), "to": .int(revision.rawValue)], id: revision) { gap = nil }
  }

  private func tellReplays(_ found: [LiveReplay]?) {
    for replay in found ?? [] where replays[replay.id] != replay.content {
      let isNews = replays[replay.id] != nil || replay.isOpen
      // One that ended long ago is no news.
      if !isNews || send("replay", replay.content) { replays[replay.id] = replay.content }
    }
    // Of those that are no longer listed nothing is told any more.
    if let found { replays = replays.filter { known in found.contains { $0.id == known.key } } }
  }

  @discardableResult
  private func send(_ event: StaticString, _ content: JSON, id: Revision? = nil) -> Bool {
    connection?.send(event, content, id: id?.rawValue) ?? false
  }

  private func finish(_ reason: String) {
    send("bye", ["reason": .string(reason)])
    connection?.close()
  }
}
