import ArgumentParser

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

  @Option(
    help: ArgumentHelp("Only at this path, or below it.", valueName: "path"), transform: TreeLocation.init(argument:))
  var path: TreeLocation?

  @Option(help: ArgumentHelp("Only about this user: with this key in the path.", valueName: "uid"))
  var uid: String?

  @Option(
    help: ArgumentHelp("Only since then: \(TimePoint.forms).", valueName: "time"), transform: TimePoint.init(argument:))
  var since: TimePoint?

  /// The parameters of a request.
  var query: [QueryItem] {
    [
      QueryItem("function", function), QueryItem("outcome", outcome?.rawValue), QueryItem("path", path?.text),
      QueryItem("uid", uid), QueryItem("since", (since?.milliseconds).map { String($0) }),
    ].compactMap(\.self)
  }
}
