import AdminClient
import AdminModel
import ArgumentParser
import TreeModel

/// Which events are wanted; all conditions must hold.
struct EventFilter: ParsableArguments {
  @Option(help: ArgumentHelp("Only of this function.", valueName: "name"))
  var function: String?

  @Option(help: "Only with this outcome.")
  var outcome: AdminEvents.Outcome?

  @Option(help: ArgumentHelp("Only where this stands in the reason or the error.", valueName: "text"))
  var reason: String?

  @Option(help: ArgumentHelp("Only after so many attempts, or more.", valueName: "count"))
  var attempt: Int64?

  @Option(help: ArgumentHelp("Only written by this actor (user:bob), or this kind of actor (user).", valueName: "actor"))
  var actor: String?

  @Option(
    help: ArgumentHelp("Only at this path, or below it; or at a pattern: '/users/*/level'.", valueName: "path"),
    transform: Self.scope)
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
  var query: AdminEvents.Query {
    AdminEvents.Query(
      since: span.from, until: span.through, function: function, outcome: outcome, reason: reason, attempt: attempt,
      actor: actor, path: path, uid: uid, cause: cause)
  }

  /// A path, or a pattern.
  private static func scope(_ text: String) throws -> String {
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
  let namespace: String?
  private let query: AdminEvents.Query
  private(set) var cursor: String?
  /// Every event of this revision and later ones was looked at.
  private(set) var scannedThrough: Int64?
  /// The erasure of the player who was asked for, if there was one.
  private(set) var erased: AdminAccounts.Erasure?
  /// Whether there are no more events.
  private(set) var isAtEnd = false

  /// - `cursor`: where to begin; nil for the newest.
  init(client: AdminClient, namespace: String?, query: AdminEvents.Query, cursor: String? = nil) {
    self.client = client
    self.namespace = namespace
    self.query = query
    self.cursor = cursor
  }

  /// The next `count` events, each as a value and as the server sent it; fewer at the end, and where the log was looked
  /// through for long without finding one.
  mutating func take(_ count: Int) async throws -> [AdminAnswer<AdminEvents.Event>] {
    var events: [AdminAnswer<AdminEvents.Event>] = []
    var empty = 0
    while events.count < count, !isAtEnd, empty < Self.emptyMax {
      var wanted = query
      (wanted.limit, wanted.cursor) = (Int64(min(count - events.count, Self.limitMax)), cursor)
      let answer = try await client.call(AdminEvents.list, query: wanted, namespace: namespace)
      let found = answer.elements("events", values: answer.value.events ?? [])
      empty = found.isEmpty ? empty + 1 : 0
      events += found
      scannedThrough = answer.value.scannedThrough
      erased = answer.value.erased ?? erased
      cursor = answer.value.next
      isAtEnd = cursor == nil
    }
    return events
  }
}

extension AdminEvents.Outcome: ExpressibleByArgument {}
