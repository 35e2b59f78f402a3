import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import ServerConfiguration
import TreeModel

/// `doubloon messages create`: a draft.
struct MessagesCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Create a draft from a file.",
    discussion: """
      The file holds one campaign, with comments if you like. A file with a fault creates nothing, and all faults are told.

      Examples:
        doubloon messages create earned50.json
        doubloon messages create - < earned50.json
      """)

  @Argument(help: "The file; - reads the standard input.")
  var file: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let document = try MessageFile.one(file)
    let answer = try await server.withClient { client in
      try await MessageFile.explaining([document], asking: client, of: server) {
        try await client.call(AdminMessages.create, query: NoQuery(), document: document, namespace: server.namespace)
      }
    }
    output.print(answer, CampaignStep.text)
  }
}

/// `doubloon messages publish`: from draft to players.
struct MessagesPublishCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Publish a draft: from now on it is shown to those whom it is for.",
    discussion: """
      What is published does not change any more, but for its test devices and an end that moves nearer.

      Examples:
        doubloon messages publish earned50 --reason "the summer event"
        doubloon messages publish earned50 --if-version 3
      """)

  @OptionGroup
  var step: CampaignStep

  func run() async throws { try await step.run(AdminMessages.publish) }
}

/// `doubloon messages stop`: for good.
struct MessagesStopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop",
    abstract: "Stop a published campaign, for good; a duplicate of it can be published.",
    discussion: """
      Examples:
        doubloon messages stop earned50 --reason "the event is over"
      """)

  @OptionGroup
  var step: CampaignStep

  func run() async throws { try await step.run(AdminMessages.stop) }
}

/// What a step of a campaign takes.
struct CampaignStep: ParsableArguments {
  @OptionGroup
  var choice: CampaignArgument

  @Option(help: ArgumentHelp("Why, for the audit log.", valueName: "text"))
  var reason: String?

  @Option(help: ArgumentHelp("Only if it is still at this version.", valueName: "number"))
  var ifVersion: Int64?

  func run(_ endpoint: Endpoint<NoQuery, AdminMessages.StepOrder, AdminMessages.Campaign>) async throws {
    let answer = try await choice.call(endpoint, body: AdminMessages.StepOrder(version: ifVersion, reason: reason))
    choice.output.print(answer, Self.text)
  }

  /// Where it stands now, with what is doubtful.
  static func text(_ campaign: AdminMessages.Campaign) -> String {
    ([MessagesShowCommand.head(campaign)] + campaign.warnings.map { "warning: \($0.text)" }).joined(separator: "\n")
  }
}

/// `doubloon messages duplicate`: a draft that says the same.
struct MessagesDuplicateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "duplicate",
    abstract: "Make a draft that says the same as a campaign.",
    discussion: """
      Examples:
        doubloon messages duplicate earned50 --as earned50-b
      """)

  @OptionGroup
  var choice: CampaignArgument

  @Option(
    name: .customLong("as"), help: ArgumentHelp("The copy's id. (default: made by the server)", valueName: "id"))
  var newID: String?

  func run() async throws {
    let answer = try await choice.call(AdminMessages.duplicate, body: AdminMessages.DuplicateOrder(id: newID))
    choice.output.print(answer, CampaignStep.text)
  }
}

/// `doubloon messages delete`: a campaign goes, its counts stay.
struct MessagesDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete a campaign; its counts stay, and its id is never used again.",
    discussion: """
      Examples:
        doubloon messages delete earned50 --reason "a misunderstanding"
      """)

  @OptionGroup
  var step: CampaignStep

  func run() async throws {
    let query = AdminMessages.DeleteQuery(version: step.ifVersion, reason: step.reason)
    let choice = step.choice
    let answer = try await choice.server.withClient { client in
      try await client.call(AdminMessages.delete, at: [choice.id], query: query, namespace: choice.server.namespace)
    }
    choice.output.print(answer, CampaignStep.text)
  }
}

/// `doubloon messages apply`: a file as the wanted state.
struct MessagesApplyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apply",
    abstract: "Take a file as the wanted state: create, replace drafts, publish.",
    discussion: """
      The file is {"campaigns": […]} with comments; each campaign has an id, and "publish": true publishes it. What is \
      published is never changed: where the file says something else, that is a conflict, and nothing is done at all. \
      Campaigns that are not in the file stay, unless --prune is given: then those that are published are stopped.

      Examples:
        doubloon messages apply messages.json --dry-run
        doubloon messages apply messages.json
        doubloon messages apply messages.json --prune --reason "release 2.4"
      """)

  @Argument(help: "The file; - reads the standard input.")
  var file: String

  @Flag(help: "Stop published campaigns that are not in the file.")
  var prune = false

  @Flag(help: "Only say what would be done.")
  var dryRun = false

  @Option(help: ArgumentHelp("Why, for the audit log.", valueName: "text"))
  var reason: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let order = AdminMessages.ApplyOrder(
      campaigns: try MessageFile(file).campaigns, prune: prune, dryRun: dryRun, reason: reason)
    let answer = try await server.withClient { client in
      try await MessageFile.explaining(order.campaigns, asking: client, of: server) {
        try await client.call(AdminMessages.apply, body: order, namespace: server.namespace)
      }
    }
    output.print(answer, Self.text)
    if answer.value.differences.contains(where: { $0.action == .conflict }) { throw ExitCode(1) }
  }

  static func text(_ applied: AdminMessages.Applied) -> String {
    let changes = applied.differences.filter { $0.action != .none }
    var lines = changes.map { "\($0.action.rawValue) \($0.id)\($0.message.isEmpty ? "" : ": \($0.message)")".printable }
    let unchanged = Int64(applied.differences.count - changes.count).counted("campaign is", many: "campaigns are")
    lines.append("\(unchanged) as the file says.")
    if !changes.isEmpty { lines.append(applied.applied ? "It is done." : "Nothing was changed.") }
    return lines.joined(separator: "\n")
  }
}

/// `doubloon messages export`: campaigns as a file.
struct MessagesExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write drafts and published campaigns as a file that \"messages apply\" reads.",
    discussion: """
      Examples:
        doubloon messages export > messages.json
        doubloon messages export --to messages.json
      """)

  @Option(help: ArgumentHelp("Write into this file instead.", valueName: "file"))
  var to: String?

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let campaigns = try await server.withClient { client in
      var ids: [String] = []
      for state in [AdminMessages.State.draft, .published] {
        var cursor: String?
        repeat {
          let query = AdminMessages.ListQuery(state: state, limit: 1000, cursor: cursor)
          let page = try await client.call(AdminMessages.list, query: query, namespace: server.namespace).value
          ids += page.campaigns.map(\.id)
          cursor = page.next
        } while cursor != nil
      }
      var campaigns: [JSON] = []
      for id in ids.sorted() {
        campaigns.append(
          MessageFile.kept(try await client.call(AdminMessages.show, at: [id], namespace: server.namespace).json))
      }
      return campaigns
    }
    let text = Array((JSON.object([.init(key: "campaigns", value: .array(campaigns))]).prettyText + "\n").utf8)
    guard let to else { return DoubloonCommandLine.output.out(text) }
    try FileBytes.write(text, to: to)
  }
}
