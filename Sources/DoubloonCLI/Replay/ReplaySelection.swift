import ArgumentParser
import StorageCore
import TreeModel

/// What is to be replayed.
struct ReplaySelection: ParsableArguments {
  /// The modes, of which one is chosen.
  enum Mode: String, EnumerableFlag {
    case failed, gaps, all, rebuild

    static func help(for value: Mode) -> ArgumentHelp? {
      switch value {
      case .failed: "Dead letters, and what waits for a retry. (default)"
      case .gaps:
        "Events that a function has never had: it was deployed later, or its filter was another, or (with --suppressed) the write told it to sleep."
      case .all: "Everything; what was handled before is only counted. (default with --event)"
      case .rebuild: "Build the store anew from its recorded commits, and compare."
      }
    }
  }

  @Flag
  var mode: Mode?

  @Option(help: ArgumentHelp("Only this event.", valueName: "id"))
  var event: String?

  @Option(help: ArgumentHelp("Only this function.", valueName: "name"))
  var function: String?

  @OptionGroup
  var span: TimeSpan

  @Option(help: ArgumentHelp("Only events about this user: with this key in the path.", valueName: "uid"))
  var uid: String?

  @Flag(help: "Give a function also those events that another function has handled.")
  var allowHandled = false

  @Flag(help: "Take also what was imported, or written with triggers suppressed. (with --gaps, --all or --event)")
  var suppressed = false

  @Option(help: ArgumentHelp("At most so many events in a second; 0 for no limit.", valueName: "count"))
  var rate: Int64 = 1000

  mutating func validate() throws {
    if let event, EventID(event) == nil {
      throw ValidationError("\"\(event)\" is no event's id; they look like 1-42:/users/bob/level.")
    }
    guard (0...1_000_000).contains(rate) else { throw ValidationError("--rate must be 0 to 1000000.") }
    if suppressed, mode == .failed || (mode == nil && event == nil) {
      throw ValidationError("--suppressed finds what was never given to a function: name --gaps, --all or --event, too.")
    }
    let narrows =
      event != nil || function != nil || span.since != nil || span.until != nil || uid != nil || allowHandled || suppressed
    if mode == .rebuild, narrows { throw ValidationError("--rebuild is about everything; leave the other options out.") }
  }

  /// The order, for the server.
  func body(reason: String) -> JSON {
    var members: [JSON.Member] = [.init(key: "reason", value: .string(reason)), .init(key: "rate", value: .int(rate))]
    func add(_ key: String, _ value: JSON?) {
      if let value { members.append(.init(key: key, value: value)) }
    }
    add("mode", mode.map { .string($0.rawValue) })
    add("event", event.map(JSON.string))
    add("function", function.map(JSON.string))
    add("since", (span.since?.milliseconds).map(JSON.int))
    add("until", (span.until?.milliseconds).map(JSON.int))
    add("uid", uid.map(JSON.string))
    add("allowHandled", allowHandled ? .bool(true) : nil)
    add("suppressed", suppressed ? .bool(true) : nil)
    return .object(members)
  }
}
