import AdminClient
import AdminModel
import ArgumentParser
import NIOCore
import ServerApp
import TreeModel

/// `doubloon ledger holds add`: sets coins aside.
struct LedgerHoldsAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Set coins aside for a player, once.",
    discussion: """
      Examples:
        doubloon ledger holds add alice 50 --from issuance:support --reason "ticket 118" --once support/118
        doubloon ledger holds add alice 50 --from user:alice --dry-run
      """)

  @Argument(help: "The player for whom they wait.")
  var owner: String

  @Argument(help: "How many coins.", transform: { try NegativeNumber.integer($0) })
  var amount: Int64

  @Option(help: ArgumentHelp("The account that gives.", valueName: "account"))
  var from: LedgerAccountArgument

  @Option(help: ArgumentHelp("The currency. (default: the game's only one)", valueName: "name"))
  var unit: String?

  @Option(help: ArgumentHelp("What makes it the same hold when it is asked for again.", valueName: "key"))
  var once: String?

  @Option(help: ArgumentHelp("Why; kept with the entry.", valueName: "text"))
  var reason: String?

  @Flag(help: "Only say what it would do.")
  var dryRun = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard amount > 0 else { throw ValidationError("The amount must be above zero.") }
  }

  func run() async throws {
    let hold = AdminLedger.HoldOrder(
      from: from.text, owner: owner, amount: amount, unit: unit, key: once ?? "hold/\(RandomToken.make())", reason: reason)
    try await server.withClient { client in
      if dryRun {
        let preview = try await client.call(
          AdminHolds.previewHolds, body: AdminHolds.HoldsPreviewOrder(hold: hold), namespace: server.namespace)
        return output.print(preview) { preview in
          LedgerText.preview(
            preview.balances, repeats: preview.repeats, refusal: preview.refusals.first.map(\.error))
        }
      }
      let made = try await client.call(AdminLedger.hold, body: hold, namespace: server.namespace)
      output.print(made) { LedgerTransferCommand.text($0.entry, isRepeated: $0.repeated) }
    }
  }
}

/// `doubloon ledger holds release`: pays holds out.
struct LedgerHoldsReleaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release",
    abstract: "Pay holds out, each to the player for whom it waits.",
    discussion: """
      The same command again answers with the same entry. Several holds need a reason; with --all you are asked first.

      Examples:
        doubloon ledger holds release 17 --reason "a school"
        doubloon ledger holds release 17 --to user:alice --reason "a second account of hers"
        doubloon ledger holds release 17 18 21 --reason "looked at" --dry-run
        doubloon ledger holds release --all --why limit --reason "a school" --yes
      """)

  @OptionGroup
  var ending: HoldEndOptions

  @Option(
    help: ArgumentHelp("The account that gets the coins. (default: the player's for whom it waits)", valueName: "account"))
  var to: LedgerAccountArgument?

  mutating func validate() throws {
    guard to == nil || ending.holds.count == 1 else { throw ValidationError("--to is about one hold.") }
  }

  func run() async throws {
    try await ending.run(.release, to: to?.text) { client, server, hold in
      try await client.call(
        AdminLedger.release, at: [String(hold)], body: AdminLedger.ReleaseOrder(to: to?.text, reason: ending.reason),
        namespace: server.namespace)
    }
  }
}

/// `doubloon ledger holds void`: gives holds back.
struct LedgerHoldsVoidCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "void",
    abstract: "Give holds back to where they came from: nobody is paid.",
    discussion: """
      The same command again answers with the same entry. Several holds need a reason; with --all you are asked first.

      Examples:
        doubloon ledger holds void 17 --reason "invented accounts"
        doubloon ledger holds void --all --uid alice --reason "invented accounts" --dry-run
      """)

  @OptionGroup
  var ending: HoldEndOptions

  func run() async throws {
    try await ending.run(.void, to: nil) { client, server, hold in
      try await client.call(
        AdminLedger.void, at: [String(hold)], body: AdminLedger.VoidOrder(reason: ending.reason), namespace: server.namespace)
    }
  }
}

/// Which holds end, and why.
struct HoldEndOptions: ParsableArguments {
  @Argument(help: "The holds, as \"list\" prints them.")
  var holds: [Int64] = []

  @Flag(help: "All that wait and match, instead of naming them.")
  var all = false

  @OptionGroup(title: "With --all")
  var filter: HoldFilterOptions

  @Option(help: ArgumentHelp("Why; kept with the entry.", valueName: "text"))
  var reason: String?

  @Flag(help: "Only say what it would do.")
  var dryRun = false

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  /// How the holds of one request are ended.
  private static let atOnce = 1000
  private static let timeout = TimeAmount.minutes(10)

  mutating func validate() throws {
    guard holds.isEmpty == all else { throw ValidationError("Name the holds, or say --all.") }
    guard all || filter.isEmpty else { throw ValidationError("--uid, --unit, --why, --since and --until belong to --all.") }
    guard holds.allSatisfy({ $0 > 0 }) else { throw ValidationError("Entries are numbered from 1.") }
    guard holds.count <= Self.atOnce else { throw ValidationError("At most \(Self.atOnce) holds can be named.") }
    guard holds.count == 1 || dryRun || reason?.isEmpty == false else {
      throw ValidationError("--reason must say why, for the record.")
    }
  }

  /// Looks, asks and ends them.
  ///
  /// - `one`: ends one hold that was named.
  func run(
    _ action: AdminHolds.HoldAction, to receiver: String?,
    one: (AdminClient, ServerOptions, Int64) async throws -> AdminAnswer<AdminLedger.Ended>
  ) async throws {
    try await server.withClient { client in
      if !dryRun, holds.count == 1 {
        let answer = try await one(client, server, holds[0])
        return output.print(answer) { LedgerTransferCommand.text($0.entry, isRepeated: $0.repeated) }
      }
      let preview = try await look(action, to: receiver, client: client)
      if dryRun { return output.print(preview) { Self.text($0, action: action) } }
      if all, !yes {
        DoubloonCommandLine.output.error(Self.text(preview.value, action: action))
        guard preview.value.count > 0, try DoubloonCommandLine.question.confirm("Go on?") else { throw ExitCode(1) }
      }
      let ended = try await end(action, from: preview.value, client: client)
      output.print(JSON(encoding: ended)) { _ in Self.text(ended, action: action) }
      if !ended.refusals.isEmpty { throw ExitCode(1) }
    }
  }

  private func look(
    _ action: AdminHolds.HoldAction, to receiver: String? = nil, after: Int64? = nil, through: Int64? = nil,
    client: AdminClient
  ) async throws -> AdminAnswer<AdminHolds.HoldsPreview> {
    var matching = filter.filter(after: after)
    matching.through = through
    let order = AdminHolds.HoldsPreviewOrder(
      action: action, holds: all ? nil : holds, matching: all ? matching : nil, to: receiver)
    return try await client.call(
      AdminHolds.previewHolds, body: order, namespace: server.namespace, timeout: Self.timeout)
  }

  /// Ends them, a thousand at a time; what began to wait since the preview is left alone.
  private func end(_ action: AdminHolds.HoldAction, from preview: AdminHolds.HoldsPreview, client: AdminClient) async throws
    -> AdminHolds.HoldsEnded
  {
    var progress = ProgressLine(DoubloonCommandLine.output)
    defer { progress.clear() }
    var report = AdminHolds.HoldsEnded(ended: [], repeated: 0, coins: NamedValues(), refusals: [])
    var part = preview
    while !part.holds.isEmpty {
      let order = AdminHolds.HoldsEndOrder(action: action, holds: part.holds, reason: reason ?? "")
      report.add(
        try await client.call(AdminHolds.endHolds, body: order, namespace: server.namespace, timeout: Self.timeout).value)
      progress.show("\(report.ended.count.grouped) of \(preview.count.grouped) holds")
      guard let next = part.next else { break }
      part = try await look(action, after: next, through: preview.through, client: client).value
    }
    return report
  }

  private static func text(_ preview: AdminHolds.HoldsPreview, action: AdminHolds.HoldAction) -> String {
    let verb = action == .release ? "would be released" : "would be given back"
    var lines = ["\(preview.count.counted("hold", many: "holds")), \(LedgerText.coins(preview.coins)) \(verb)."]
    if preview.refused > 0 { lines.append("\(preview.refused.grouped) would be refused:") }
    lines += preview.refusals.map { "  hold \($0.hold): \($0.error)".printable }
    lines += preview.balances.map { LedgerText.change($0) }
    return lines.joined(separator: "\n")
  }

  private static func text(_ ended: AdminHolds.HoldsEnded, action: AdminHolds.HoldAction) -> String {
    let verb = action == .release ? "released" : "given back"
    let before = ended.repeated > 0 ? " (\(ended.repeated.grouped) of them before)" : ""
    let head = "\(ended.ended.count.counted("hold", many: "holds")), \(LedgerText.coins(ended.coins)) \(verb)\(before)."
    return ([head] + ended.refusals.map { "  hold \($0.hold): \($0.error)".printable }).joined(separator: "\n")
  }
}

extension AdminHolds.HoldsEnded {
  /// Adds what became of others.
  fileprivate mutating func add(_ part: AdminHolds.HoldsEnded) {
    ended += part.ended
    repeated += part.repeated
    refusals += part.refusals
    coins = coins.adding(part.coins)
  }
}

extension NamedValues<Int64> {
  /// The sums of both; what does not fit stays at the largest.
  fileprivate func adding(_ other: NamedValues<Int64>) -> NamedValues<Int64> {
    var sums = Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    for member in other.members {
      let (sum, overflow) = (sums[member.name] ?? 0).addingReportingOverflow(member.value)
      sums[member.name] = overflow ? .max : sum
    }
    return NamedValues(counts: sums)
  }
}
