import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import ServerConfiguration
import TextFormats
import TreeModel

/// Talks to the Identity Toolkit's methods for administrators: what has to do with passwords goes this way.
enum AccountTransfer {
  /// How many accounts one call carries.
  static let pageSize = 500

  /// Where a method of the project is whose namespace is meant.
  static func path(_ client: AdminClient, _ server: ServerOptions, _ method: String) async throws -> String {
    var namespace = server.namespace
    if namespace == nil { namespace = try await client.call(AdminSystem.status).value.defaultNamespace }
    let suffix = "-default-rtdb"
    let name = namespace ?? ""
    let project = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
    return "/identitytoolkit.googleapis.com/v1/projects/\(PercentEncoding.encode(project))/\(method)"
  }

  /// All accounts, with the hashes of their passwords.
  static func all(_ client: AdminClient, server: ServerOptions) async throws -> [JSON] {
    let path = try await path(client, server, "accounts:batchGet")
    var users: [JSON] = []
    var next: String?
    repeat {
      let query = [QueryItem("maxResults", String(pageSize)), QueryItem("nextPageToken", next)].compactMap(\.self)
      let page = try await client.get(path, query: query)
      users += page.listed("users")
      next = page["nextPageToken"]?.string
    } while next != nil
    return users
  }
}

/// `doubloon accounts import`: brings a studio's players.
struct AccountsImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Bring accounts from a file of \"firebase auth:export\" or \"doubloon accounts export\", as JSON or CSV.",
    discussion: """
      A file of "doubloon accounts export" says for itself how each password is hashed. For one of Firebase's it stands in a file of its own, as the console shows it under "password hash parameters", \
      but as JSON: {"hashAlgorithm":"SCRYPT","signerKey":"…","saltSeparator":"Bw==","rounds":8,"memoryCost":14}. Players \
      keep their passwords; each is hashed again at the next sign-in. What is wrong with a row is printed, and the others are \
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
    let errors = try await server.withClient { client in
      let path = try await AccountTransfer.path(client, server, "accounts:batchCreate")
      var errors: [JSON] = []
      var start = 0
      while start < users.count {
        let part = Array(users[start..<min(start + AccountTransfer.pageSize, users.count)])
        let body = JSON.object(common + [JSON.Member(key: "users", value: .array(part))])
        for error in try await client.post(path, body).listed("error") {
          let row = Int64(start) + (error["index"]?.int ?? 0)
          errors.append([
            "row": .int(row + 1), "uid": users[Int(row)]["localId"] ?? .null, "message": error["message"] ?? .null,
          ])
        }
        start += part.count
      }
      return errors
    }
    let answer: JSON = ["imported": .int(Int64(users.count - errors.count)), "errors": .array(errors)]
    output.print(answer) { answer in
      let lines = answer.listed("errors").map {
        "Row \($0["row"]?.int ?? 0) (\($0["uid"]?.string?.printable ?? "no uid")): \($0["message"]?.string?.printable ?? "")"
      }
      return (lines + ["Imported \(users.count - errors.count) of \(users.count) accounts."]).joined(separator: "\n")
    }
    if !errors.isEmpty { throw CommandError("\(errors.count) accounts were not imported; correct their rows and try again.") }
  }
}

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
    let users = try await server.withClient { client in try await AccountTransfer.all(client, server: server) }
    let bytes = AccountFile.write(users, asCSV: file.hasSuffix(".csv"))
    if file == "-" { return DoubloonCommandLine.output.out(bytes) }
    try FileBytes.write(bytes, to: file, isPrivate: true)
    DoubloonCommandLine.output.error("Exported \(users.count.counted("account", many: "accounts")) to \(file).")
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
