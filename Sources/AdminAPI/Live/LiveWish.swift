import APISupport
import AdminModel
import HTTPServer
import Ledger
import PlayerLifecycle
import RewardModel
import StorageCore
import TreeDatabase
import TreeModel

/// What a client of the live stream asked to be told of.
struct LiveWish: Sendable {
  let topics: Set<AdminSystem.LiveTopic>
  /// `touched` names its children; `events` and nothing else are those below it.
  let path: Path
  let filter: EventFilter
  /// The newest commit that the client knew when an earlier stream ended.
  let since: Revision?

  /// What the request asks for; nil for the stream without topics.
  init?(_ query: AdminSystem.LiveQuery, lastEventID: String?) throws {
    guard let text = query.topics else { return nil }
    topics = Set(
      try text.split(separator: ",", omittingEmptySubsequences: false).map { name in
        if let topic = AdminSystem.LiveTopic(rawValue: String(name)) { return topic }
        let known = AdminSystem.LiveTopic.allCases.map(\.rawValue).joined(separator: ", ")
        throw APIError.badRequest("There is no topic \"\(name)\"; name some of \(known), with commas between them.")
      })
    path = try DataRoutes.path(query.path ?? "/")
    filter = try EventFilter(query.filters)
    since = lastEventID.flatMap { Int64($0) }.flatMap { $0 >= 0 ? Revision($0) : nil }
  }
}

/// A message of a topic.
struct LiveNews: Sendable {
  let name: StaticString
  let content: JSON
}

/// The rows of a message, as far as there is room for them.
private struct LiveRows {
  /// Bytes of rows that one message has at most, as JSON.
  private static let bytesMax = 14 << 10

  private var rows: [JSON] = []
  private var bytes = 0
  /// How many there was no room for.
  private var left: Int64 = 0

  mutating func take(_ row: JSON) {
    guard rows.count < LiveSource.rowsMax else { return left += 1 }
    let size = row.compactText.utf8.count
    guard bytes + size <= Self.bytesMax else { return left += 1 }
    rows.append(row)
    bytes += size
  }

  /// nil without any.
  func message(_ name: StaticString) -> LiveNews? {
    rows.isEmpty && left == 0 ? nil : LiveNews(name: name, content: ["rows": .array(rows), "left": .int(left)])
  }
}

/// A replay, as the stream tells of it.
struct LiveReplay: Sendable {
  let id: Int64
  /// Whether it runs or rests.
  let isOpen: Bool
  let content: JSON
}

extension LiveSource {
  /// Rows that one message has at most.
  static let rowsMax = 20
  /// Children that one message names at most.
  static let keysMax = 50
  /// Commits, and events, that are looked at for one message.
  private static let looksMax = 500

  /// What happened in the commits after one and up to another: one message for each topic that has any.
  ///
  /// - Throws: `StorageError` if the store cannot be read.
  func news(_ wish: LiveWish, after last: Revision, through now: Revision) throws -> [LiveNews] {
    let currencies = services.ledger?.declaredCurrencies ?? []
    let functions = services.functions?.descriptions ?? []
    return try services.database.engine.read { snapshot in
      var news: [LiveNews?] = []
      if wish.topics.contains(.touched) { news.append(try touched(wish, after: last, through: now, in: snapshot)) }
      if wish.topics.contains(.events) {
        let scan = try EventScan(
          namespace, wish.filter, currencies: currencies, functions: functions,
          before: EventPosition(revision: now.next, path: nil), scanMax: Self.looksMax, in: snapshot)
        news.append(try events(scan, after: last))
      }
      if wish.topics.contains(.entries) { news.append(try entries(after: last, through: now, in: snapshot)) }
      return news.compactMap(\.self)
    }
  }

  /// Which children of the place were written; `more` where that is not all of them.
  private func touched(_ wish: LiveWish, after last: Revision, through now: Revision, in snapshot: any Snapshot) throws
    -> LiveNews?
  {
    let place = PathBytes(wish.path)
    let commits = try snapshot.commits(in: namespace, after: last, limit: Self.looksMax).filter { $0.revision <= now }
    var (keys, count): ([Key], Int64) = ([], 0)
    var (known, isMore) = (Set<Key>(), commits.last?.revision != now)
    for commit in commits {
      // What was forgotten may have been anywhere.
      guard let changes = commit.changes else {
        isMore = true
        continue
      }
      let here = changes.filter { place.contains($0.path) || $0.path.contains(place) }
      if !here.isEmpty { count += 1 }
      for change in here where place.contains(change.path) {
        guard let key = change.path.keys(after: place.bytes.count)?.first, known.insert(key).inserted else { continue }
        if keys.count < Self.keysMax { keys.append(key) } else { isMore = true }
      }
    }
    guard count > 0 || isMore else { return nil }
    return LiveNews(
      name: "touched",
      content: [
        "from": .int(last.rawValue + 1), "to": .int(now.rawValue), "commits": .int(count),
        "keys": .array(keys.map { .string($0.text) }), "more": .bool(isMore),
      ])
  }

  /// The newest events, as they are now; `left` counts the others.
  private func events(_ wanted: EventScan, after last: Revision) throws -> LiveNews? {
    var (scan, rows) = (wanted, LiveRows())
    while let found = try scan.next(), found.event.id.revision > last {
      rows.take(JSON(encoding: AdminEvents.Event(found.event, found.commit, found.executions, found.deliveries)))
    }
    return rows.message("events")
  }

  /// The newest entries of the ledger; `left` counts the others.
  private func entries(after last: Revision, through now: Revision, in snapshot: any Snapshot) throws -> LiveNews? {
    var rows = LiveRows()
    for entry in try snapshot.entries(in: namespace, before: nil, limit: Self.looksMax) where entry.revision <= now.rawValue {
      guard entry.revision > last.rawValue else { break }
      rows.take(JSON(encoding: AdminLedger.Entry(entry, reversedBy: nil)))
    }
    return rows.message("entries")
  }

  /// The replays that were ordered last.
  func replays() throws -> [LiveReplay] {
    try (services.replays?.list(in: namespace, before: nil, limit: Self.rowsMax) ?? []).map { replay in
      let state = replay.state
      return LiveReplay(
        id: replay.id, isOpen: state == .running || state == .paused,
        content: ["id": .int(replay.id), "state": .string(state.rawValue), "progress": JSON(encoding: replay.progress)])
    }
  }
}
