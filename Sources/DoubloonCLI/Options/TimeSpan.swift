import AdminClient
import ArgumentParser

/// Between which moments something is wanted. Both moments count, for every command.
struct TimeSpan: ParsableArguments {
  @Option(
    help: ArgumentHelp("Only since then, that moment included: \(TimePoint.forms).", valueName: "time"),
    transform: TimePoint.init(argument:))
  var since: TimePoint?

  @Option(help: ArgumentHelp("Only until then, that moment included.", valueName: "time"), transform: TimePoint.init(argument:))
  var until: TimePoint?

  /// The parameters of a request.
  var query: [QueryItem?] {
    [
      QueryItem("since", (since?.milliseconds).map { String($0) }),
      QueryItem("until", (until?.milliseconds).map { String($0) }),
    ]
  }
}
