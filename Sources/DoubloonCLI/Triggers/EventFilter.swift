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
    guard text.contains(where: { "{*".contains($0) }) else { return try TreeLocation(argument: text).text }
    do {
      return try PathPattern(parsingOwn: text).description
    } catch {
      throw ValidationError("\(error)")
    }
  }
}
