import AdminClient
import TreeModel

/// The trigger log, newest first, page after page.
///
/// The server looks at a bounded number of events for one answer; with a filter that admits few, a page may be short or
/// empty and still not be the last.
struct EventPages {
  /// Rows of one answer.
  private static let limitMax = 1000
  /// Answers without a row, one after the other, after which it is better to say how far was looked: half a million events.
  private static let emptyMax = 100

  let client: AdminClient
  /// Namespace and filter.
  let query: [QueryItem]
  private(set) var cursor: String?
  /// Every event of this revision and later ones was looked at.
  private(set) var scannedThrough: Int64?
  /// The erasure of the player who was asked for, if there was one.
  private(set) var erased: JSON?
  /// Whether there are no more events.
  private(set) var isAtEnd = false

  /// - Parameter cursor: where to begin; nil for the newest.
  init(client: AdminClient, query: [QueryItem], cursor: String? = nil) {
    self.client = client
    self.query = query
    self.cursor = cursor
  }

  /// The next `count` events; fewer at the end, and where the log was looked through for long without finding one.
  mutating func take(_ count: Int) async throws -> [JSON] {
    var events: [JSON] = []
    var empty = 0
    while events.count < count, !isAtEnd, empty < Self.emptyMax {
      let limit = min(count - events.count, Self.limitMax)
      let page = query + [QueryItem("limit", String(limit)), QueryItem("cursor", cursor)].compactMap(\.self)
      let answer = try await client.get(AdminPath.events, query: page)
      let found = answer.listed("events")
      empty = found.isEmpty ? empty + 1 : 0
      events += found
      scannedThrough = answer["scannedThrough"]?.int
      erased = answer["erased"] ?? erased
      cursor = answer["next"]?.string
      isAtEnd = cursor == nil
    }
    return events
  }
}
