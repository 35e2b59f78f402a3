import AdminClient
import AdminModel
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
        doubloon invites list --state failed --campaign summer
        doubloon invites list --sender alice
      """)

  @Option(help: ArgumentHelp("Only those that came exactly so far: queued, sent, failed, opened, clicked, converted."))
  var state: String?

  @Option(help: ArgumentHelp("Only those of this player.", valueName: "player"))
  var sender: String?

  @Option(help: ArgumentHelp("Only those of this campaign.", valueName: "name"))
  var campaign: String?

  @Option(help: ArgumentHelp("Only those before this one.", valueName: "id"))
  var before: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let query = AdminInvitations.FilteredQuery(
      state: state, sender: sender, campaign: campaign, limit: listing.count, cursor: before)
    listing.output.print(try await listing.page(of: AdminInvitations.list, query: query), Self.text)
  }

  static func text(_ list: AdminInvitations.List) -> String {
    var table = TextTable([.text("ID"), .text("TIME"), .text("SENDER"), .text("CHANNEL"), .text("STATE"), .text("TO")])
    for invite in list.invites {
      table.add([
        invite.id, invite.createdAt.text, invite.sender, invite.channel, invite.state, invite.to ?? "-",
      ])
    }
    return table.page(empty: "There are no invitations.", next: list.next, by: "--before")
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
    let invitation = try answer.decoded(as: AdminInvitations.Invitation.self)
    output.print(answer) { _ in Self.text(invitation) }
  }

  static func text(_ invitation: AdminInvitations.Invitation) -> String {
    var lines = ["\(invitation.id) is \(invitation.state)"]
    lines.append("from \(invitation.sender) by \(invitation.channel), \(invitation.createdAt.text)")
    if let to = invitation.to { lines.append("to \(to)") }
    lines.append("link \(invitation.link)")
    for (word, time) in [
      ("opened", invitation.openedAt), ("clicked", invitation.clickedAt), ("converted", invitation.convertedAt),
    ] {
      if let time { lines.append("\(word) \(time.text)") }
    }
    if let error = invitation.lastError { lines.append("last error: \(error)") }
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
      if let document {
        return try await client.call(
          AdminInvitations.putSettings, query: NoQuery(), document: document, namespace: server.namespace)
      }
      return try await client.call(AdminInvitations.settings, namespace: server.namespace)
    }
    DoubloonCommandLine.output.line(answer.json.prettyText)
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
        try await client.call(
          AdminInvitations.suppressions, query: AdminInvitations.ListQuery(limit: 1000), namespace: server.namespace)
      }
      return output.print(answer, Self.text)
    }
    let order = AdminInvitations.SuppressOrder(email: email, reason: reason, release: release)
    let answer = try await server.withClient { client in
      try await client.call(AdminInvitations.suppress, body: order, namespace: server.namespace)
    }
    output.print(answer) { _ in
      release ? "\(email) may get invitations again.".printable : "\(email) gets no invitations any more.".printable
    }
  }

  static func text(_ list: AdminInvitations.SuppressionList) -> String {
    var table = TextTable([.text("ADDRESS"), .text("SINCE"), .text("WHY")])
    for row in list.suppressions { table.add([row.email, row.at.text, row.reason ?? "-"]) }
    return table.isEmpty ? "Nobody is off the list." : table.render()
  }
}
