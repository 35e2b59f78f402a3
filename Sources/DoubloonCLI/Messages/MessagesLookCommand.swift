import AdminClient
import AdminModel
import ArgumentParser
import NIOCore
import NIOHTTP1
import ServerApp
import ServerConfiguration
import TextFormats
import TreeModel

/// `doubloon messages check`: whether a file would be taken.
struct MessagesCheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a file of campaigns: every fault, every doubt; nothing is stored.",
    discussion: """
      Ends with exit code 1 if there is a fault. With --images the pictures are fetched from this machine (the server never \
      fetches them): each must answer 200 with a picture of at most 1 MB.

      Examples:
        doubloon messages check messages.json
        doubloon messages check messages.json --images
      """)

  @Argument(help: "The file; - reads the standard input.")
  var file: String

  @Flag(help: "Fetch the pictures, too.")
  var images = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let campaigns = try MessageFile(file).campaigns
    var results: [(name: String, check: AdminMessages.Check)] = []
    try await server.withClient { client in
      for (index, campaign) in campaigns.enumerated() {
        let check = try await client.call(
          AdminMessages.check, query: NoQuery(), document: campaign, namespace: server.namespace
        ).value
        results.append((MessageFile.name(of: campaign, at: index), check))
      }
    }
    if images {
      for index in results.indices {
        for address in MessagePicture.addresses(in: campaigns[index]) {
          guard let problem = await MessagePicture.problem(at: address) else { continue }
          results[index].check.sound = false
          results[index].check.faults.append(.init(code: "IMAGE", path: address, message: problem))
        }
      }
    }
    let checks = results
    output.print(JSON.array(checks.map { JSON(encoding: $0.check) })) { _ in
      checks.map { name, check in Self.text(name, check: check) }.joined(separator: "\n")
    }
    if checks.contains(where: { !$0.check.sound }) { throw ExitCode(1) }
  }

  static func text(_ name: String, check: AdminMessages.Check) -> String {
    let head = check.sound ? "\(name) is sound." : "\(name) would be refused."
    let lines = check.faults.map { "  fault: \($0.text)" } + check.warnings.map { "  warning: \($0.text)" }
    return ([head.printable] + lines).joined(separator: "\n")
  }
}

/// The pictures of campaigns, looked at from the administrator's machine.
enum MessagePicture {
  private static let bytesMax = 1 << 20

  /// The addresses in a campaign and its variants, each once.
  static func addresses(in campaign: JSON) -> [String] {
    let contents = [campaign["content"]] + (campaign["variants"]?.array ?? []).map { $0["content"] }
    var found: [String] = []
    for name in ["image", "portraitImage", "landscapeImage"] {
      for content in contents {
        if let text = content?[name]?.string, !found.contains(text) { found.append(text) }
      }
    }
    return found
  }

  /// Why an app would not show the picture; nil if it would.
  static func problem(at address: String) async -> String? {
    guard address.hasPrefix("https://") else { return "It is no https address." }
    let rest = address.dropFirst("https://".count)
    let host = rest.prefix { $0 != "/" && $0 != "?" }
    let target = rest.dropFirst(host.count)
    let path = target.prefix { $0 != "?" }
    do {
      let limits = AdminClient.Limits(requestTimeout: .seconds(15), responseBytesMax: bytesMax, idleConnectionsMax: 0)
      let client = try AdminClient(server: "https://\(host)", token: nil, limits: limits)
      let answer = try await client.send(
        .GET, path.isEmpty ? "/" : String(path), query: query(target.dropFirst(path.count).dropFirst()),
        headers: ["Accept": "image/*"])
      return problem(status: answer.status, type: answer.headers.first(name: "content-type") ?? "")
    } catch {
      return "\(error)"
    }
  }

  static func problem(status: Int, type: String) -> String? {
    guard status == 200 else { return "It answers with status \(status); apps take 200 only, and follow no redirection." }
    return type.lowercased().hasPrefix("image/") ? nil : "It answers with the type \"\(type.prefix(80))\" and no image/…"
  }

  private static func query(_ text: Substring) -> [QueryItem] {
    text.split(separator: "&").compactMap { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentEncoding.decode(parts[0]) else { return nil }
      return QueryItem(name, parts.count > 1 ? PercentEncoding.decode(parts[1]) ?? "" : "")
    }
  }
}

/// `doubloon messages preview`: how a campaign appears.
struct MessagesPreviewCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "preview",
    abstract: "Show how a campaign appears: in a language, with an event's or a player's values.",
    discussion: """
      With --player the texts say what they say to that player now: by what waits for the campaign, by the account, and by \
      places of the tree that the security rules let the player read. With --to a page is written that a browser opens.

      Examples:
        doubloon messages preview earned50
        doubloon messages preview earned50 --locale pl --param amount=50 --param inviter=Ania
        doubloon messages preview earned50 --player alice --platform ios
        doubloon messages preview earned50 --variant b --width 390 --to page.html
      """)

  @OptionGroup
  var choice: CampaignArgument

  @Option(help: ArgumentHelp("The language: pl, pt-BR. (default: the campaign's)", valueName: "tag"))
  var locale: String?

  @Option(help: ArgumentHelp("A variant of the content.", valueName: "name"))
  var variant: String?

  @Option(
    name: .customLong("param"), help: ArgumentHelp("A value of the event; may be repeated.", valueName: "name=value"),
    transform: EventParameter.init)
  var parameters: [EventParameter] = []

  @Option(help: ArgumentHelp("A player whose values the texts have.", valueName: "player"))
  var player: String?

  @Option(help: ArgumentHelp("Warn if devices of this platform do not get it: ios, android, web.", valueName: "name"))
  var platform: String?

  @Option(help: ArgumentHelp("The width of the screen, in points, 200 to 4000.", valueName: "points"))
  var width: Int64?

  @Option(help: ArgumentHelp("Write a page for a browser into this file.", valueName: "file"))
  var to: String?

  func run() async throws {
    let order = AdminMessages.PreviewOrder(
      locale: locale, variant: variant, params: parameters.isEmpty ? nil : EventParameter.values(parameters), uid: player,
      platform: platform, width: width)
    let answer = try await choice.call(AdminMessages.preview, body: order)
    if let to {
      try FileBytes.write(Array((answer.value.html ?? "").utf8), to: to)
      return DoubloonCommandLine.output.line("\(to) is written.".printable)
    }
    choice.output.print(answer, Self.text)
  }

  static func text(_ preview: AdminMessages.Preview) -> String {
    guard let view = preview.view else { return "There is nothing to show." }
    var lines = ["\(view["layout"]?.string ?? "?"), \(view["language"]?.string ?? "?")"]
    for name in ["title", "body"] { lines += view[name]?.string.map { [$0] } ?? [] }
    for image in view["images"]?.array ?? [] {
      lines.append("picture \(image["url"]?.string ?? "?") (\(image["alt"]?.string ?? "no description"))")
    }
    if let action = view["action"]?.string { lines.append("a tap opens \(action)") }
    for button in view["buttons"]?.array ?? [] {
      let action = button["action"]?.string ?? "closes it"
      lines.append("[\(button["text"]?.string ?? button["role"]?.string ?? "?")] \(action)")
    }
    if !preview.missing.isEmpty {
      lines.append("It is withheld without the values \(preview.missing.joined(separator: ", ")): give them with --param.")
    }
    return (lines.map(\.printable) + preview.warnings.map { "warning: \($0.text)" }).joined(separator: "\n")
  }
}

/// A value of an event on the command line: `amount=50`.
struct EventParameter: Sendable {
  let name: String
  let value: JSON

  init(_ text: String) throws {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { throw ValidationError("--param \(text): write it as name=value.") }
    name = String(parts[0])
    let word = String(parts[1])
    switch try? JSONParser.parse(word) {
    case .int(let number)?: value = .int(number)
    case .double(let number)?: value = .double(number)
    case .bool(let bool)?: value = .bool(bool)
    // What is no number and no truth value is a text, with or without quotes.
    case .string(let text)?: value = .string(text)
    default: value = .string(word)
    }
  }

  static func values(_ parameters: [EventParameter]) -> NamedValues<JSON> {
    NamedValues(parameters.map { .init($0.name, $0.value) })
  }
}

/// `doubloon messages test`: on one's own device, now.
struct MessagesTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Show a campaign once on a device, before all others; a draft, too.",
    discussion: """
      At once where the app is open, else at its next fetch; for 24 hours at most.

      Examples:
        doubloon messages test earned50 --device cRk2uGm0TQeV7bq5zXhL9A
        doubloon messages test earned50 --device cRk2uGm0TQeV7bq5zXhL9A --variant b
      """)

  @OptionGroup
  var choice: CampaignArgument

  @Option(name: .customLong("device"), help: ArgumentHelp("An instance; may be repeated.", valueName: "instance"))
  var devices: [String]

  @Option(help: ArgumentHelp("A variant of the content.", valueName: "name"))
  var variant: String?

  func run() async throws {
    let order = AdminMessages.TestOrder(devices: devices, variant: variant)
    let answer = try await choice.call(AdminMessages.test, body: order)
    choice.output.print(answer) { _ in
      "\(choice.id) appears once on \(devices.joined(separator: ", ")): now if the app is open, else at its next fetch."
        .printable
    }
  }
}

/// `doubloon messages explain`: why somebody gets it, or not.
struct MessagesExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Say why a device or a player gets a campaign, or does not.",
    discussion: """
      Examples:
        doubloon messages explain earned50 --player alice
        doubloon messages explain earned50 --device cRk2uGm0TQeV7bq5zXhL9A
      """)

  @OptionGroup
  var choice: CampaignArgument

  @Option(help: ArgumentHelp("An instance.", valueName: "instance"))
  var device: String?

  @Option(help: ArgumentHelp("A player.", valueName: "player"))
  var player: String?

  mutating func validate() throws {
    guard (device == nil) != (player == nil) else { throw ValidationError("Name a --device or a --player.") }
  }

  func run() async throws {
    let answer = try await choice.call(AdminMessages.explain, body: AdminMessages.ExplainOrder(instance: device, uid: player))
    choice.output.print(answer, Self.text)
  }

  static func text(_ explanation: AdminMessages.Explanation) -> String {
    var table = TextTable([.text("HOLDS"), .text("CONDITION"), .text("FOUND")])
    for condition in explanation.conditions {
      table.add([condition.holds ? "yes" : "NO", condition.name, condition.value.plainText])
    }
    let end = explanation.failed.map { "It is not shown: \($0) fails." } ?? "The next fetch brings it."
    return table.render() + "\n\n" + end.printable
  }
}

/// `doubloon messages stats`: what came of a campaign.
struct MessagesStatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Show what came of a campaign: displays, clicks, conversions, by variant and day.",
    discussion: """
      Rates have the interval in which they are with 95 % certainty. Tests are not counted.

      Examples:
        doubloon messages stats earned50
        doubloon messages stats earned50 --days 30
      """, aliases: ["results"])

  @OptionGroup
  var choice: CampaignArgument

  @Option(help: ArgumentHelp("So many days back.", valueName: "count"))
  var days = 7

  mutating func validate() throws {
    guard (1...400).contains(days) else { throw ValidationError("--days must be 1 to 400.") }
  }

  func run() async throws {
    let answer = try await choice.server.withClient { client in
      try await client.call(
        AdminMessages.statistics, at: [choice.id], query: AdminMessages.StatisticsQuery(days: Int64(days)),
        namespace: choice.server.namespace)
    }
    choice.output.print(answer, Self.text)
  }

  static func text(_ statistics: AdminMessages.Statistics) -> String {
    guard !statistics.totals.isEmpty else { return "Nothing was counted of \(statistics.campaign) in these days.".printable }
    var table = TextTable([.text("DAY"), .text("VARIANT"), .text("WHAT"), .text("DETAIL"), .number("COUNT")])
    for row in statistics.days {
      table.add([row.day, row.variant ?? "-", row.kind, row.detail ?? "-", row.count.grouped])
    }
    let totals = statistics.totals.map { total in
      [total.variant, total.kind, total.detail].compactMap(\.self).joined(separator: " ") + ": \(total.count.grouped)"
    }
    let rates = statistics.rates.flatMap { rate in
      let variant = rate.variant.map { " of \($0)" } ?? ""
      let clicks = rate.rate.map { share in
        "clicks of impressions\(variant): \(percent(share)) (95 %: \(percent(rate.low)) to \(percent(rate.high)))"
      }
      let conversions = rate.conversionRate.map { share in
        "conversions of displays\(variant): \(percent(share)) "
          + "(95 %: \(percent(rate.conversionLow)) to \(percent(rate.conversionHigh)))"
      }
      return [clicks, rate.conversions > 0 ? conversions : nil].compactMap(\.self)
    }
    return ([table.render(), ""] + (totals + rates).map(\.printable)).joined(separator: "\n")
  }

  /// A share of 0 to 1 with one decimal.
  private static func percent(_ share: JSON?) -> String {
    let value: Double =
      switch share {
      case .double(let number)?: number
      case .int(let number)?: Double(number)
      default: 0
      }
    let tenths = Int64((value * 1000).rounded())
    return "\(tenths / 10).\(tenths % 10) %"
  }
}
