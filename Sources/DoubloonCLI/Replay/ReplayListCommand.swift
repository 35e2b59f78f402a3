import AdminClient
import AdminModel
import ArgumentParser
import TreeModel

/// `doubloon replay list`: what was replayed.
struct ReplayListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the replays, newest first.",
    discussion: """
      Examples:
        doubloon replay list
      """)

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let query = AdminReplays.Query(limit: listing.count)
    listing.output.print(try await listing.page(of: AdminReplays.list, query: query), Self.text)
  }

  static func text(_ list: AdminReplays.List) -> String {
    var table = TextTable([
      .number("REPLAY"), .text("STATE"), .text("MODE"), .number("GIVEN"), .text("BEGUN"), .text("BY"), .text("REASON"),
    ])
    for replay in list.replays {
      table.add([
        String(replay.id), replay.state.rawValue, replay.order.mode.rawValue, replay.progress.given.grouped,
        replay.createdAt.text, replay.order.actor, replay.order.reason,
      ])
    }
    return table.isEmpty ? "Nothing was replayed yet." : table.render()
  }
}

/// `doubloon replay show`: one replay, and what became of what it gave.
struct ReplayShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print one replay with its counts, and what became of each event that it gave.",
    discussion: """
      Examples:
        doubloon replay show 3
        doubloon replay show 3 --limit 1000
      """)

  @Argument(help: "The replay's number, as \"list\" prints it.")
  var id: Int64

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let (server, id) = (listing.server, String(id))
    let (replay, items) = try await server.withClient { client in
      (
        try await client.call(AdminReplays.show, at: [id], namespace: server.namespace),
        try await client.call(
          AdminReplays.items, at: [id], query: AdminReplays.ItemQuery(limit: listing.count), namespace: server.namespace)
      )
    }
    let json = JSON.object((replay.json.object ?? []) + (items.json.object ?? []))
    listing.output.print(json) { _ in Self.text(replay.value, items.value) }
  }

  static func text(_ replay: AdminReplays.Replay, _ list: AdminReplays.ItemList) -> String {
    var table = TextTable([.text("EVENT"), .text("FUNCTION"), .text("NOW"), .text("REASON")])
    for item in list.items { table.add([item.event, item.function, item.outcome, item.reason ?? ""]) }
    let more = list.next == nil ? "" : "\n(more with --limit)"
    return ReplayText.record(replay) + (table.isEmpty ? "" : "\n\n" + table.render() + more)
  }
}

/// `doubloon replay pause`.
struct ReplayPauseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Stop a replay after what is on its way; \"resume\" goes on.",
    discussion: """
      Examples:
        doubloon replay pause 3
      """)

  @OptionGroup
  var step: ReplayStep

  func run() async throws { try await step.take(AdminReplays.pause) }
}

/// `doubloon replay resume`.
struct ReplayResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Go on with a replay that was paused, or that failed.",
    discussion: """
      Examples:
        doubloon replay resume 3
      """)

  @OptionGroup
  var step: ReplayStep

  func run() async throws { try await step.take(AdminReplays.resume) }
}

/// `doubloon replay cancel`.
struct ReplayCancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "End a replay after what is on its way.",
    discussion: """
      Examples:
        doubloon replay cancel 3
      """)

  @OptionGroup
  var step: ReplayStep

  func run() async throws { try await step.take(AdminReplays.cancel) }
}

/// What `doubloon replay pause`, `resume` and `cancel` share: the number of a replay, and one request about it.
struct ReplayStep: ParsableArguments {
  @Argument(help: "The replay's number, as \"list\" prints it.")
  var id: Int64

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  /// Takes the step, and prints the replay as it is then.
  func take(_ step: Endpoint<NoQuery, EmptyBody, AdminReplays.Replay>) async throws {
    let answer = try await server.withClient { client in
      try await client.call(step, at: [String(id)], namespace: server.namespace)
    }
    output.print(answer, ReplayText.record)
  }
}
