import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon sessions …`: who is signed in at the console.
struct SessionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions",
    abstract: "Who is signed in at the console: list sessions, end one.",
    discussion: """
      A session is kept in the server's memory: a restart ends all of them. Where players are signed in says \
      "doubloon accounts sessions".

      Examples:
        doubloon sessions list
        doubloon sessions end Xa4VbA31f0kQm2Zr
      """,
    subcommands: [SessionsListCommand.self, SessionsEndCommand.self])
}

/// `doubloon sessions list`: which sessions there are.
struct SessionsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the sessions of the console, newest first.",
    discussion: """
      Examples:
        doubloon sessions list
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in try await client.call(AdminSessions.list) }
    output.print(answer, Self.text)
  }

  static func text(_ list: AdminSessions.List) -> String {
    var table = TextTable([
      .text("SESSION"), .text("WHO"), .text("ROLE"), .text("FROM"), .text("SINCE"), .text("LAST ACTIVE"), .text("ENDS"),
    ])
    for session in list.sessions {
      table.add([
        session.id, session.actor, session.role, session.address, session.createdAt.text, session.lastActiveAt.text,
        session.until.text,
      ])
    }
    return table.isEmpty ? "Nobody is signed in at the console." : table.render()
  }
}

/// `doubloon sessions end`: signs somebody out.
struct SessionsEndCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "end",
    abstract: "End a session of the console; its next request asks for a sign-in.",
    discussion: """
      The credential stays good: who has it can sign in again. "doubloon service-account revoke" ends that.

      Examples:
        doubloon sessions end Xa4VbA31f0kQm2Zr
      """)

  @Argument(help: "The session, as the list has it.")
  var session: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.call(AdminSessions.end, at: [session])
    }
    output.print(answer) { _ in "The session \(session.printable) has ended." }
  }
}
