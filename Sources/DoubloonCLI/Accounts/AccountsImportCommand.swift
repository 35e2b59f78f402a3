import AdminClient
import ArgumentParser
import ServerApp
import ServerConfiguration
import TreeModel

/// `doubloon accounts import`: brings a studio's players.
struct AccountsImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Bring accounts from a file of \"firebase auth:export\" or \"doubloon accounts export\", as JSON or CSV.",
    discussion: """
      A file of "doubloon accounts export" says for itself how each password is hashed. For one of Firebase's it stands in a file of its own, as the console shows it under "password hash parameters", \
      but as JSON: {"hashAlgorithm":"SCRYPT","signerKey":"…","saltSeparator":"Bw==","rounds":8,"memoryCost":14}. Players \
      keep their passwords; each is hashed anew at the next sign-in. What is wrong with a row is printed, and the others are \
      taken. An account that exists is replaced. Functions see nothing of it unless --triggers is given.

      Examples:
        doubloon accounts import users.json --hash-config hash.json
        doubloon accounts import users.csv
      """)

  @Argument(help: "The file; - for the standard input, which is read as JSON.")
  var file: String

  @Option(help: ArgumentHelp("A file that says how the passwords are hashed.", valueName: "file"))
  var hashConfig: String?

  @Flag(inversion: .prefixedNo, help: "Whether functions see the accounts come.")
  var triggers = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let users = try AccountFile.read(try FileBytes.read(file), from: file)
    let hashing = try hashConfig.map { try JSONInput.parse(try FileBytes.read($0), from: $0) }?.object ?? []
    let common = hashing + (triggers ? [JSON.Member(key: "triggers", value: true)] : [])
    let faults = try await server.withClient { client in
      let path = try await AccountTransfer.path(client, server, "accounts:batchCreate")
      var faults: [JSON] = []
      var start = 0
      while start < users.count {
        let part = Array(users[start..<min(start + AccountTransfer.pageSize, users.count)])
        let body = JSON.object(common + [JSON.Member(key: "users", value: .array(part))])
        for fault in try await client.post(path, body).listed("error") {
          let row = Int64(start) + (fault["index"]?.int ?? 0)
          faults.append([
            "row": .int(row + 1), "uid": users[Int(row)]["localId"] ?? .null, "message": fault["message"] ?? .null,
          ])
        }
        start += part.count
      }
      return faults
    }
    let answer: JSON = ["imported": .int(Int64(users.count - faults.count)), "errors": .array(faults)]
    output.print(answer) { answer in
      let lines = answer.listed("errors").map {
        "Row \($0["row"]?.int ?? 0) (\($0["uid"]?.string?.printable ?? "no uid")): \($0["message"]?.string?.printable ?? "")"
      }
      return (lines + ["Imported \(users.count - faults.count) of \(users.count) accounts."]).joined(separator: "\n")
    }
    if !faults.isEmpty { throw CommandFailure("\(faults.count) accounts were not imported; correct their rows and try again.") }
  }
}
