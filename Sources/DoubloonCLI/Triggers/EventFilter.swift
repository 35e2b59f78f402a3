import AdminClient
import ArgumentParser
import TreeModel

/// Which events are wanted; all conditions must hold.
struct EventFilter: ParsableArguments {
  /// What came of an event for a function.
  enum Outcome: String, CaseIterable, ExpressibleByArgument {
    case done, skipped, waiting, paused, dead, pending
  }

  @Option(help: ArgumentHelp("Only of this function.", valueName: "name"))
  var function: String?

  @Option(help: "Only with this outcome.")
  var outcome: Outcome?

  @Option(help: ArgumentHelp("Only where this stands in the reason or the error.", valueName: "text"))
  var reason: String?

  @Option(help: ArgumentHelp("Only after so many attempts, or more.", valueName: "count"))
  var attempt: Int64?

  @Option(help: ArgumentHelp("Only written by this actor (user:bob), or this kind of actor (user).", valueName: "actor"))
  var actor: String?

  @Option(
    help: ArgumentHelp("Only at this path, or below it; or at a pattern: '/users/*/level'.", valueName: "path"),
    transform: Self.place)
  var path: String?

  @Option(
    help: ArgumentHelp("Only about this player: in the path, or with coins moved on an account of theirs.", valueName: "uid"))
  var uid: String?

  @Option(
    help: ArgumentHelp("Only this event, or the events of this revision, and what came of them.", valueName: "event"))
  var cause: String?

  @OptionGroup
  var span: TimeSpan

  /// The parameters of a request.
  var query: [QueryItem] {
    let own = [
      QueryItem("function", function), QueryItem("outcome", outcome?.rawValue), QueryItem("reason", reason),
      QueryItem("attempt", attempt.map { String($0) }), QueryItem("actor", actor), QueryItem("path", path),
      QueryItem("uid", uid), QueryItem("cause", cause),
    ]
    return (own + span.query).compactMap(\.self)
  }

  /// A path, or a pattern.
  private static func place(_ text: String) throws -> String {
    guard text.contains(where: { "{*".contains($0) }) else { return try PathArgument(argument: text).text }
    do {
      return try PathPattern(parsingInternal: text).description
    } catch {
      throw ValidationError("\(error)")
    }
  }
}

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

  /// - `cursor`: where to begin; nil for the newest.
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
