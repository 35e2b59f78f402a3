import AdminClient
import ArgumentParser
import ServerApp
import ServerConfiguration
import TextFormats
import TreeModel

/// `doubloon invites`: invitations that players send.
struct InvitesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "invites",
    abstract: "Invitations: how far they came, what they say, who wants none.",
    discussion: """
      An invitation is queued, sent or failed, then opened, clicked, converted.

      Examples:
        doubloon invites list
        doubloon invites show 7Jd2…
        doubloon invites settings invites.json
        doubloon invites suppress bob@example.com --reason "asked by phone"
      """,
    subcommands: [InvitesListCommand.self, InvitesShowCommand.self, InvitesSettingsCommand.self, InvitesSuppressCommand.self])
}

/// `doubloon invites list`: invitations, newest first.
struct InvitesListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List invitations, newest first.",
    discussion: """
      Examples:
        doubloon invites list --limit 20
      """)

  @Option(help: ArgumentHelp("Only those before this one.", valueName: "id"))
  var before: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let answer = try await listing.page(of: AdminPath.invites, [QueryItem("cursor", before)])
    listing.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.text("ID"), .text("TIME"), .text("SENDER"), .text("CHANNEL"), .text("STATE"), .text("TO")])
    for invite in answer.listed("invites") {
      table.add([
        invite["id"]?.string ?? "?", invite["createdAt"]?.timeText ?? "-", invite["sender"]?.string ?? "-",
        invite["channel"]?.string ?? "-", invite["state"]?.string ?? "-", invite["to"]?.string ?? "-",
      ])
    }
    return table.page(of: answer, empty: "There are no invitations.", next: "--before")
  }
}

/// `doubloon invites show`: how far an invitation came.
struct InvitesShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show how far an invitation came.",
    discussion: """
      Examples:
        doubloon invites show 7Jd2kQ0aB3xY
      """)

  @Argument(help: "The invitation's id.")
  var id: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let path = "/v1/invites/\(PercentEncoding.encode(id))"
    let answer = try await server.withClient { client in try await client.get(path, query: server.query) }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var lines = ["\(answer["id"]?.string ?? "?") is \(answer["state"]?.string ?? "?")"]
    lines.append(
      "from \(answer["sender"]?.string ?? "?") by \(answer["channel"]?.string ?? "?"), \(answer["createdAt"]?.timeText ?? "-")")
    if let to = answer["to"]?.string { lines.append("to \(to)") }
    lines.append("link \(answer["link"]?.string ?? "-")")
    for key in ["openedAt", "clickedAt", "convertedAt"] {
      if let time = answer[key]?.timeText { lines.append("\(key.dropLast(2)) \(time)") }
    }
    if let error = answer["lastError"]?.string { lines.append("last error: \(error)") }
    return lines.map(\.printable).joined(separator: "\n")
  }
}

/// `doubloon invites settings`: campaigns, templates, limits.
struct InvitesSettingsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Show the settings of invitations, or replace them by a file.",
    discussion: """
      Examples:
        doubloon invites settings
        doubloon invites settings invites.json
      """)

  @Argument(help: "A JSON file with the new settings; - reads the standard input.")
  var file: String?

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let document = try file.map { try JSONInput.parse(FileBytes.read($0), from: $0) }
    let answer = try await server.withClient { client in
      if let document { return try await client.put(AdminPath.inviteSettings, document, query: server.query) }
      return try await client.get(AdminPath.inviteSettings, query: server.query)
    }
    DoubloonCommandLine.output.line(answer.prettyText)
  }
}

/// `doubloon invites suppress`: who gets no invitations any more.
struct InvitesSuppressCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "suppress",
    abstract: "Take an address off the list, let it back, or list those that are off.",
    discussion: """
      Examples:
        doubloon invites suppress
        doubloon invites suppress bob@example.com --reason "asked by phone"
        doubloon invites suppress bob@example.com --release
      """)

  @Argument(help: "The address; without one those that are off are listed.")
  var email: String?

  @Option(help: ArgumentHelp("Why.", valueName: "text"))
  var reason: String?

  @Flag(help: "Let the address get invitations again.")
  var release = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    guard let email else {
      let answer = try await server.withClient { client in
        try await client.get(AdminPath.suppressions, query: server.query + [QueryItem("limit", "1000")])
      }
      return output.print(answer, Self.text)
    }
    var members: [JSON.Member] = [
      JSON.Member(key: "email", value: .string(email)), JSON.Member(key: "release", value: .bool(release)),
    ]
    if let reason { members.append(JSON.Member(key: "reason", value: .string(reason))) }
    let body = JSON.object(members)
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.suppressions, body, query: server.query)
    }
    output.print(answer) { _ in
      release ? "\(email) may get invitations again.".printable : "\(email) gets no invitations any more.".printable
    }
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.text("ADDRESS"), .text("SINCE"), .text("WHY")])
    for row in answer.listed("suppressions") {
      table.add([row["email"]?.string ?? "?", row["at"]?.timeText ?? "-", row["reason"]?.string ?? "-"])
    }
    return table.isEmpty ? "Nobody is off the list." : table.render()
  }
}
