import AdminClient
import ArgumentParser
import ServerApp
import ServerConfiguration
import TreeModel

/// `doubloon accounts create`: makes an account.
struct AccountsCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Make an account.",
    discussion: """
      The password is read from a file, or from the standard input with -, so that it stands in no list of processes.

      Examples:
        doubloon accounts create --email ann@example.com --password-file -
        doubloon accounts create --uid ann --name Ann
      """)

  @Option(help: ArgumentHelp("The uid; a random one if it is not given.", valueName: "uid"))
  var uid: String?

  @Option(help: ArgumentHelp("The mail address.", valueName: "address"))
  var email: String?

  @Option(help: ArgumentHelp("The name to show.", valueName: "text"))
  var name: String?

  @Option(help: ArgumentHelp("The telephone number, with its plus.", valueName: "number"))
  var phone: String?

  @Option(help: ArgumentHelp("A file whose first line is the password.", valueName: "file"))
  var passwordFile: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    if passwordFile != nil, email == nil { throw ValidationError("A password needs an address to sign in with: add --email.") }
  }

  func run() async throws {
    var members: [(String, String?)] = [("localId", uid), ("email", email), ("displayName", name), ("phoneNumber", phone)]
    if let passwordFile {
      let text = String(decoding: try FileBytes.read(passwordFile), as: UTF8.self)
      members.append(("password", text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""))
    }
    let body = JSON.object(members.compactMap { name, value in value.map { JSON.Member(key: name, value: .string($0)) } })
    let answer = try await server.withClient { client in
      try await client.post(try await AccountTransfer.path(client, server, "accounts"), body)
    }
    output.print(answer) { "\($0["localId"]?.string?.printable ?? "?") is made." }
  }
}
