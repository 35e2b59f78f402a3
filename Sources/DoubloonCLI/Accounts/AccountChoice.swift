import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// The account that a command is about.
struct AccountChoice: ParsableArguments {
  @Argument(help: "The account's uid, or its e-mail address.")
  var uid: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  /// Where the administrators' surface has the account.
  var path: String { AdminPath.account(uid) }

  /// Asks something of the server about the account, and prints its answer, or a sentence about the account.
  func perform(saying sentence: (String) -> String, _ request: (AdminClient) async throws -> JSON) async throws {
    let answer = try await server.withClient(request)
    output.print(answer) { _ in sentence(uid.printable) }
  }
}
