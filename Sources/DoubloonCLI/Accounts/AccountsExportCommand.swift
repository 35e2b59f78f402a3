import ArgumentParser
import ServerConfiguration
import TreeModel

/// `doubloon accounts export`: takes the players away again.
struct AccountsExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write all accounts into a file, as \"firebase auth:import\" reads it: JSON, or CSV if its name ends so.",
    discussion: """
      The file holds the hashes of the passwords: keep it as you would keep the passwords. Its owner alone can read it. \
      Anonymous accounts are included.

      How each password is hashed is in the file too, where Firebase's importer does not look, and "doubloon accounts import" \
      needs nothing else. Firebase's takes one way for a whole file, from its flags: what was counted for each way is printed. \
      A CSV file has no place for identities other than Google's, Facebook's, Twitter's and GitHub's, nor for what JSON has \
      below "doubloon".

      Examples:
        doubloon accounts export users.json
        doubloon accounts export users.csv
      """)

  @Argument(help: "The file; - or nothing for the standard output, as JSON.")
  var file = "-"

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let users = try await server.withClient { client in try await AccountTransfer.all(client, server) }
    let bytes = AccountFile.write(users, asCSV: file.hasSuffix(".csv"))
    if file == "-" { return DoubloonCommandLine.output.out(bytes) }
    try FileBytes.write(bytes, to: file, isPrivate: true)
    DoubloonCommandLine.output.error("Exported \(users.count.counted("account", "accounts")) to \(file).")
    for (way, count) in Self.ways(users) {
      DoubloonCommandLine.output.error("Passwords hashed by \(way): \(count)")
    }
  }

  /// How many passwords are hashed in which way, the most frequent first; keys are left out.
  private static func ways(_ users: [JSON]) -> [(String, Int)] {
    var counts: [String: Int] = [:]
    for user in users {
      guard let config = user["hashConfig"], let name = config["hashAlgorithm"]?.string else { continue }
      let numbers = ["cpuMemCost", "memoryCost", "rounds", "blockSize", "parallelization", "dkLen"].compactMap { name in
        config[name]?.int.map { "\(name) \($0)" }
      }
      counts[([name] + numbers).joined(separator: ", "), default: 0] += 1
    }
    return counts.sorted { $0.value != $1.value ? $0.value > $1.value : $0.key < $1.key }
  }
}
