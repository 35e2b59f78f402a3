import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon messages devices`: how the own device is found.
struct MessagesDevicesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "List instances of apps, those that fetched last first; or forget one.",
    discussion: """
      Examples:
        doubloon messages devices --limit 5
        doubloon messages devices --player alice
        doubloon messages devices --forget cRk2uGm0TQeV7bq5zXhL9A --reason "asked by mail"
      """)

  @Option(help: ArgumentHelp("Only those of this player.", valueName: "player"))
  var player: String?

  @Option(help: ArgumentHelp("Forget this instance, and what it has seen.", valueName: "instance"))
  var forget: String?

  @Option(help: ArgumentHelp("Why it is forgotten, for the audit log.", valueName: "text"))
  var reason: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    if let forget {
      let answer = try await listing.server.withClient { client in
        try await client.call(
          AdminMessages.forgetDevice, at: [forget], reason: reason, namespace: listing.server.namespace)
      }
      return listing.output.print(answer) { _ in "\(forget) is forgotten, with what it has seen.".printable }
    }
    let query = AdminMessages.DeviceQuery(uid: player, limit: listing.count)
    listing.output.print(try await listing.page(of: AdminMessages.devices, query: query), Self.text)
  }

  static func text(_ list: AdminMessages.DeviceList) -> String {
    var table = TextTable([
      .text("INSTANCE"), .text("LAST FETCH"), .text("PLATFORM"), .text("APP"), .text("LANGUAGE"), .text("PLAYER"),
    ])
    for device in list.devices {
      table.add([
        device.instance, device.lastSeen.text, device.platform, device.appVersion, device.language, device.uid ?? "-",
      ])
    }
    return table.isEmpty ? "No app has fetched messages yet." : table.render()
  }
}

/// `doubloon messages events`: what waits for a player.
struct MessagesEventsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events",
    abstract: "List a player's events that wait for a message, or were shown one, oldest first.",
    discussion: """
      Examples:
        doubloon messages events --player alice
      """)

  @Option(help: ArgumentHelp("The player.", valueName: "player"))
  var player: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.call(
        AdminMessages.events, query: AdminMessages.EventQuery(uid: player), namespace: server.namespace)
    }
    output.print(answer, Self.text)
  }

  static func text(_ list: AdminMessages.EventList) -> String {
    var table = TextTable([.text("ID"), .text("TIME"), .text("EVENT"), .text("SHOWN"), .text("BY"), .text("VALUES")])
    for event in list.events {
      table.add([
        event.id, event.at.text, event.name, event.shownAt.text, event.campaign ?? "-", event.params.plainText,
      ])
    }
    return table.isEmpty ? "No event waits: none happened for which a published campaign waits." : table.render()
  }
}

/// `doubloon messages raise`: an event by hand.
struct MessagesRaiseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "raise",
    abstract: "Raise an event for a player by hand.",
    discussion: """
      It is kept until a campaign that waits for it was shown; where none waits, nothing is kept.

      Examples:
        doubloon messages raise reward --player alice --param amount=50 --param currency=pieces_of_eight
        doubloon messages raise season_won --player alice --once season-3/alice
      """)

  @Argument(help: "The event: reward, or a name of your own.")
  var name: String

  @Option(help: ArgumentHelp("The player.", valueName: "player"))
  var player: String

  @Option(
    name: .customLong("param"), help: ArgumentHelp("A value of the event; may be repeated.", valueName: "name=value"),
    transform: EventParameter.init)
  var parameters: [EventParameter] = []

  @Option(help: ArgumentHelp("What makes it the same event when it is raised again.", valueName: "key"))
  var once: String?

  @Option(help: ArgumentHelp("Why, for the audit log.", valueName: "text"))
  var reason: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let order = AdminMessages.EventOrder(
      name: name, uid: player, params: parameters.isEmpty ? nil : EventParameter.values(parameters), key: once,
      reason: reason)
    let answer = try await server.withClient { client in
      try await client.call(AdminMessages.raise, body: order, namespace: server.namespace)
    }
    output.print(answer) { raised in
      raised.event.map { "\($0.name) waits for \(player) as \($0.id).".printable }
        ?? "No published campaign waits for \(name): nothing was kept.".printable
    }
  }
}

/// `doubloon messages settings`: how often, how long, how many.
struct MessagesSettingsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Show the settings of in-app messages, or replace them by a file.",
    discussion: """
      Examples:
        doubloon messages settings
        doubloon messages settings settings.json
      """)

  @Argument(help: "A JSON file with the new settings; - reads the standard input.")
  var file: String?

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let document = try file.map { try MessageFile.document($0) }
    let answer = try await server.withClient { client in
      if let document {
        return try await client.call(
          AdminMessages.putSettings, query: NoQuery(), document: document, namespace: server.namespace)
      }
      return try await client.call(AdminMessages.settings, namespace: server.namespace)
    }
    DoubloonCommandLine.output.line(answer.json.prettyText)
  }
}
