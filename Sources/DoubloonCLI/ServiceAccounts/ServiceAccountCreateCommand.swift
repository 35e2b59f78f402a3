import AdminClient
import ArgumentParser
import Credentials
import ServerConfiguration
import TreeModel

/// `doubloon service-account create`: a name, a role, and a key file that exists once.
struct ServiceAccountCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Make a service account and write its key file.",
    discussion: """
      The file is written for its owner alone (mode 0600), and nobody can ask for it again: if it is lost, revoke the \
      account and make another. --url is the address under which whoever uses the file reaches the server; it stands in \
      the file, and tokens are to be had there only.

      On a server without an administrator yet, stop it and make the first account on its data: \
      --data DIR --project ID --url https://….

      Examples:
        doubloon service-account create ci --role support --url https://rewards.example.com
        doubloon service-account create ann --role admin --out ~/ann.json
      """)

  @Argument(help: "The account's name: small letters, digits and hyphens.")
  var name: String

  @Option(
    help: ArgumentHelp("What it may do: viewer, support or admin.", valueName: "role"), transform: Self.role)
  var role: AdminRole

  @Option(help: ArgumentHelp("The server's address for the account. (default: the one that this command talks to)"))
  var url: String?

  @Option(help: ArgumentHelp("The file to write. (default: NAME.json)", valueName: "file"))
  var out: String?

  @Option(help: ArgumentHelp("Part of the account's address. (default: the server's project)", valueName: "id"))
  var project: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  private static func role(_ text: String) throws -> AdminRole {
    guard let role = AdminRole(rawValue: text) else { throw ValidationError("--role must be viewer, support or admin.") }
    return role
  }

  mutating func validate() throws {
    guard ServiceAccountKey.isLegal(name: name) else {
      throw ValidationError("The name must be 1 to 63 small letters, digits and hyphens, a letter first.")
    }
    if server.data != nil, url == nil {
      throw ValidationError("With --data, say with --url under which address the account will reach the server.")
    }
  }

  func run() async throws {
    let file = out ?? "\(name).json"
    guard !FileBytes.exists(file) else {
      throw CommandFailure("\(file) is there already; name another file with --out.")
    }
    let order: [(String, JSON?)] = [
      ("name", .string(name)), ("role", .string(role.rawValue)), ("server", .string(url ?? server.address())),
      ("project", project.map(JSON.string)),
    ]
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.post(
        AdminPath.serviceAccounts,
        .object(order.compactMap { name, value in value.map { JSON.Member(key: name, value: $0) } }))
    }
    var writer = JSONWriter(pretty: true)
    writer.write(answer["key"] ?? .null)
    do {
      try FileBytes.writeSecret(writer.bytes + Array("\n".utf8), to: file)
    } catch {
      throw CommandFailure(
        "\(error.message) The account was made, but its key is lost: doubloon service-account revoke \(name)")
    }
    output.print(["account": answer["account"] ?? .null, "file": .string(file)]) { _ in
      "\(name) may sign in as \(role.rawValue). Its key is in \(file); keep it secret, it cannot be had again."
    }
  }
}
