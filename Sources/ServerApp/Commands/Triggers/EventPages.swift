import TreeModel

/// The trigger log, newest first, page after page.
///
/// The server looks at a bounded number of events for one answer; with a filter that admits few, a page may be short or
/// empty and still not be the last.
struct EventPages {
  /// Rows of one answer.
  private static let limitMax = 1000

  let client: AdminClient
  /// Namespace and filter.
  let query: [QueryItem]
  private var cursor: String?
  /// Whether there are no more events.
  private(set) var isAtEnd = false

  init(client: AdminClient, query: [QueryItem]) {
    self.client = client
    self.query = query
  }

  /// The next `count` events; fewer at the end.
  mutating func take(_ count: Int) async throws -> [JSON] {
    var events: [JSON] = []
    while events.count < count, !isAtEnd {
      let limit = min(count - events.count, Self.limitMax)
      let page = query + [QueryItem("limit", String(limit)), QueryItem("cursor", cursor)].compactMap(\.self)
      let answer = try await client.get(AdminPath.events, query: page)
      events += answer.listed("events")
      cursor = answer["next"]?.string
      isAtEnd = cursor == nil
    }
    return events
  }
}
