import AdminClient
import ArgumentParser
import NIOCore
import NIOHTTP1
import ServerApp
import TreeModel

/// `doubloon drain`: waits until functions have caught up.
struct DrainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drain",
    abstract: "Wait until the events committed so far are settled.",
    discussion: """
      Runs that wait for a retry, are paused, or are dead letters count as settled, and are listed. Ends with exit code \
      1 if something is still running after the time.

      Examples:
        doubloon drain
        doubloon drain --timeout 120
      """)

  @Option(help: ArgumentHelp("How long to wait.", valueName: "seconds"))
  var timeout: Int64 = 30

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (0...3600).contains(timeout) else { throw ValidationError("--timeout must be 0 to 3600 seconds.") }
  }

  func run() async throws {
    let response = try await server.withClient(spansNamespaces: true) { client in
      try await client.send(
        .POST, AdminPath.drain, query: server.query + [QueryItem("timeout", "\(timeout)s")], body: Array("{}".utf8),
        timeout: .seconds(timeout + 30))
    }
    // 504 is an answer here: the list is in it.
    let answer = try response.status == 504 ? response.json() : response.checked().json()
    output.print(answer, Self.text)
    if response.status == 504 { throw ExitCode(1) }
  }

  static func text(_ answer: JSON) -> String {
    let running = answer.listed("running")
    let unfinished = answer.listed("unfinished")
    var lines = [running.isEmpty ? "Everything is settled." : "Still running after the time:"]
    lines += running.map { "  \($0.plainText)" }
    if !unfinished.isEmpty {
      lines.append("Settled, but not done:")
      lines += unfinished.map { "  \($0.plainText)" }
    }
    return lines.joined(separator: "\n").printable
  }
}
