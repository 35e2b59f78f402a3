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

  /// Where a method of the project is whose namespace is meant, or of one of its tenants.
  static func path(
    _ client: AdminClient, _ server: ServerOptions, _ method: String, tenant: String? = nil, version: String = "v1"
  ) async throws -> String {
    var namespace = server.namespace
    if namespace == nil { namespace = try await client.call(AdminSystem.status).value.defaultNamespace }
    let suffix = "-default-rtdb"
    let name = namespace ?? ""
    let project = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
    let parent = PercentEncoding.encode(project) + (tenant.map { "/tenants/\(PercentEncoding.encode($0))" } ?? "")
    return "/identitytoolkit.googleapis.com/\(version)/projects/\(parent)/\(method)"
  }

  /// The tenants of the project; none where it has none.
  static func tenants(_ client: AdminClient, server: ServerOptions) async throws -> [JSON] {
    let path = try await path(client, server, "tenants", version: "v2")
    var tenants: [JSON] = []
    var next: String?
    do {
      repeat {
        let query = [QueryItem("pageSize", String(pageSize)), QueryItem("pageToken", next)].compactMap(\.self)
        let page = try await client.get(path, query: query)
        tenants += page.listed("tenants")
        next = page["nextPageToken"]?.string
      } while next != nil
    } catch let error as AdminClientError where error.message.contains("OPERATION_NOT_ALLOWED") {
      return []
    }
    return tenants
  }

  /// All accounts of the project and of its tenants, or of one tenant, with the hashes of their passwords.
  static func all(_ client: AdminClient, server: ServerOptions, tenant: String?) async throws -> [JSON] {
    if let tenant { return try await accounts(client, server: server, tenant: tenant) }
    var users = try await accounts(client, server: server, tenant: nil)
    for tenant in try await tenants(client, server: server) {
      users += try await accounts(client, server: server, tenant: tenant["tenantId"]?.string)
    }
    return users
  }

  private static func accounts(_ client: AdminClient, server: ServerOptions, tenant: String?) async throws -> [JSON] {
    let path = try await path(client, server, "accounts:batchGet", tenant: tenant)
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
      taken. An account that exists is replaced. Functions see nothing of it unless --triggers is given. A row that says of which \
      tenant it is goes there; that tenant must exist. --tenant brings rows that say nothing to a tenant.

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

  @Option(help: ArgumentHelp("The tenant of rows that do not say theirs.", valueName: "name"))
  var tenant: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let users = try AccountFile.read(try FileBytes.read(file), from: file)
    let hashing = try hashConfig.map { try JSONInput.parse(try FileBytes.read($0), from: $0) }?.object ?? []
    let common = hashing + (triggers ? [JSON.Member(key: "triggers", value: true)] : [])
    let errors = try await server.withClient { client in
      var errors: [JSON] = []
      for (tenant, rows) in Self.byTenant(users, else: tenant) {
        let path = try await AccountTransfer.path(client, server, "accounts:batchCreate", tenant: tenant)
        for start in stride(from: 0, to: rows.count, by: AccountTransfer.pageSize) {
          let part = rows[start..<min(start + AccountTransfer.pageSize, rows.count)]
          let body = JSON.object(
            common + Self.overwriting(part.map(\.user)) + [JSON.Member(key: "users", value: .array(part.map(\.user)))])
          for error in try await client.post(path, body).listed("error") {
            let row = rows[start + Int(error["index"]?.int ?? 0)]
            errors.append([
              "row": .int(Int64(row.number)), "uid": row.user["localId"] ?? .null, "message": error["message"] ?? .null,
            ])
          }
        }
      }
      return errors.sorted { $0["row"]?.int ?? 0 < $1["row"]?.int ?? 0 }
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

  /// That accounts which are there are overwritten: a server for development waits to be told. Not of rows that name one account
  /// twice, which the server refuses unless it is told so.
  private static func overwriting(_ users: [JSON]) -> [JSON.Member] {
    let uids = users.compactMap { $0["localId"]?.string }
    return Set(uids).count == uids.count ? [JSON.Member(key: "allowOverwrite", value: true)] : []
  }
}

extension AccountsImportCommand {
  /// The rows with their numbers, by the tenant that they name; those of no tenant first.
  ///
  /// - `tenant`: whose those are that name none.
  static func byTenant(_ users: [JSON], else tenant: String?) -> [(tenant: String?, rows: [(number: Int, user: JSON)])] {
    var groups: [String?: [(number: Int, user: JSON)]] = [:]
    for (index, user) in users.enumerated() {
      let own = user["tenantId"]?.string.flatMap { $0.isEmpty ? nil : $0 }
      groups[own ?? tenant, default: []].append((index + 1, user))
    }
    return groups.sorted { ($0.key ?? "") < ($1.key ?? "") }.map { (tenant: $0.key, rows: $0.value) }
  }
}

/// `doubloon accounts export`: takes the players away again.
struct AccountsExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write all accounts into a file, as \"firebase auth:import\" reads it: JSON, or CSV if its name ends so.",
    discussion: """
      The file holds the hashes of the passwords: keep it as you would keep the passwords. Its owner alone can read it. \
      Anonymous accounts are included, and the accounts of every tenant, which each row names; --tenant takes one tenant's.

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

  @Option(help: ArgumentHelp("Only the accounts of this tenant.", valueName: "name"))
  var tenant: String?

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let users = try await server.withClient { client in try await AccountTransfer.all(client, server: server, tenant: tenant) }
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
