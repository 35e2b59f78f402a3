import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

extension AdminFunctions.Window: ExpressibleByArgument {}

/// `doubloon functions show`: one function, with all that is known of it.
struct FunctionsShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show one function: its settings, its runs lately, and what waits for it.",
    discussion: """
      Runs are counted in memory, in parts of a quarter of an hour: at most since the server started.

      Examples:
        doubloon functions show rewardReferrals
        doubloon functions show rewardReferrals --window 1h
      """)

  @Argument(help: "The function's name.")
  var name: String

  @Option(help: ArgumentHelp("How far back runs are counted: 1h, 6h or 24h.", valueName: "time"))
  var window = AdminFunctions.Window.day

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.call(
        AdminFunctions.show, at: [name], query: AdminFunctions.WindowQuery(window: window), namespace: server.namespace)
    }
    output.print(answer, Self.text)
  }

  static func text(_ detail: AdminFunctions.Detail) -> String {
    let function = detail.function
    var lines = ["\(function.name) runs on \(function.kinds) at \(function.pattern)."]
    if function.paused { lines.append("It is paused: \(function.pauseReason ?? "").") }
    if let recent = function.recent { lines += Self.lines(of: recent) }
    let waits = detail.deliveries
    lines.append(
      "\(waits.waiting.grouped) waiting, \(waits.paused.grouped) paused, \(waits.dead.grouped) dead"
        + (waits.complete ? "." : ", or more."))
    if let oldest = waits.oldestWaiting { lines.append("Waits longest: \(oldest.event).") }
    if let last = waits.lastError { lines.append("Last error: \(last.event): \(last.error)") }
    for setting in detail.settings {
      let other = setting.overridden ? ", by the configuration; the program says \(setting.standard.compactText)" : ""
      lines.append("Setting \(setting.name): \(setting.value.compactText)\(other)")
    }
    return lines.joined(separator: "\n").printable
  }

  private static func lines(of recent: AdminFunctions.Recent) -> [String] {
    let outcomes = recent.outcomes.members.filter { $0.value > 0 }.map { "\($0.value.grouped) \($0.name)" }
    let told = outcomes.isEmpty ? "" : ": \(outcomes.joined(separator: ", "))"
    let runs = "\(recent.runs.counted("run", many: "runs")) since \(recent.since.text)\(told)."
    guard let half = recent.p50Nanoseconds, let most = recent.p95Nanoseconds else { return [runs] }
    return [runs, "Half of them took \(half / 1000) us at most, 95 of 100 \(most / 1000) us."]
  }
}
