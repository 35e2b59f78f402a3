import AdminClient
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
    listing.output.print(try await listing.page(of: AdminPath.replays), Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([
      .number("REPLAY"), .text("STATE"), .text("MODE"), .number("GIVEN"), .text("BEGUN"), .text("BY"), .text("REASON"),
    ])
    for replay in answer.listed("replays") {
      let order = replay["order"] ?? .null
      table.add([
        String(replay["id"]?.int ?? 0), replay["state"]?.string ?? "?", order["mode"]?.string ?? "?",
        (replay["progress"]?["given"]?.int ?? 0).grouped, (replay["createdAt"] ?? .null).timeText,
        order["actor"]?.string ?? "?", order["reason"]?.string ?? "",
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
    let (server, limit) = (listing.server, listing.limit)
    let answer = try await server.withClient { client in
      let record = try await client.get(AdminPath.replay(id), query: server.query)
      let items = try await client.get(
        AdminPath.replay(id) + "/items", query: server.query + [QueryItem("limit", String(limit))])
      return JSON.object((record.object ?? []) + (items.object ?? []))
    }
    listing.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.text("EVENT"), .text("FUNCTION"), .text("NOW"), .text("REASON")])
    for item in answer.listed("items") {
      table.add([
        item["event"]?.string ?? "?", item["function"]?.string ?? "?", item["outcome"]?.string ?? "?",
        item["reason"]?.string ?? "",
      ])
    }
    let more = answer["next"] == nil ? "" : "\n(more with --limit)"
    return ReplayText.record(answer) + (table.isEmpty ? "" : "\n\n" + table.render() + more)
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

  func run() async throws { try await step.take("pause") }
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

  func run() async throws { try await step.take("resume") }
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

  func run() async throws { try await step.take("cancel") }
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
  func take(_ name: String) async throws {
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.replay(id) + "/\(name)", query: server.query)
    }
    output.print(answer, ReplayText.record)
  }
}
