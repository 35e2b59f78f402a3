import APISupport
import HTTPServer
import Ledger
import Links
import NIOHTTP1
import RewardModel
import StorageCore
import TreeModel

/// The ledger: looking, and what administrators may do with it.
enum LedgerRoutes {
  static let routes: [Route] =
    [
      Route.list("/admin/v1/ledger/balance", "An account's balance.", balance).described(balanceDescription),
      Route.list("/admin/v1/ledger/statement", "An account's entries, newest first.", statement)
        .described(statementDescription),
      Route.list("/admin/v1/ledger/entries", "All entries, oldest first, or the one made under a key.", entries)
        .described(entriesDescription),
      Route.list("/admin/v1/ledger/verify", "Audits the whole ledger of a namespace.", verify)
        .described(verifyDescription),
    ] + transfers + [
      Route.mutate(
        .POST, "/admin/v1/ledger/reverse", audit: "ledger.reverse", "Takes an entry back by a new one.", access: .support,
        reverse
      ).described(reverseDescription),
      Route.list("/admin/v1/ledger/holds", "What is held and waits, oldest first.", holds).described(holdsDescription),
      Route.mutate(.POST, "/admin/v1/ledger/holds", audit: "ledger.hold", "Sets coins aside.", hold)
        .described(holdDescription),
      Route.mutate(
        .POST, "/admin/v1/ledger/holds/{sequence}/release", audit: "ledger.release",
        "Pays a hold out: to the player for whom it is held, or as an administrator says.", access: .support, release
      ).described(releaseDescription),
      Route.mutate(
        .POST, "/admin/v1/ledger/holds/{sequence}/void", audit: "ledger.void", "Gives a hold back.", access: .support, voidHold
      )
      .described(voidDescription),
    ]

  private static let transfers: [Route] = ["/admin/v1/ledger/transfer", "/admin/v1/ledger/transfers"].map { path in
    Route.mutate(
      .POST, RouteTemplate(stringLiteral: path), audit: "ledger.transfer", "Moves coins, once for each key.", transfer
    ).described(transferDescription)
  }

  // MARK: Looking

  private static func balance(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let account = LedgerAccount(try call.required("account"))
    let book = try book(call)
    let unit = try unit(call.query["unit"], book)
    let namespace = try call.namespace()
    let balance = try asking { () throws(LedgerError) in try book.balance(in: namespace, of: account, unit: unit) }
    return .json(["account": .string(account.name), "unit": .string(unit), "balance": .int(balance)])
  }

  private static func statement(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let account = LedgerAccount(try call.required("account"))
    let book = try book(call)
    let namespace = try call.namespace()
    let (before, limit) = (try call.integer("before"), try call.limit())
    let entries = try asking { () throws(LedgerError) in
      try book.statement(in: namespace, of: account, before: before, limit: limit)
    }
    let next = entries.count == limit ? entries.last.map { JSON.int($0.sequence) } : nil
    let rows = entries.map { ReferralEvidence.entry($0, links: call.services.links) }
    return .json(.record([("account", .string(account.name)), ("entries", .array(rows)), ("next", next)]))
  }

  private static func entries(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let namespace = try call.namespace()
    if let key = call.query["key"] {
      let entry = try call.read { (snapshot) throws(StorageError) in
        try snapshot.entry(in: namespace, key: BusinessKey(key))
      }
      return .json(["entries": .array(entry.map { [JSON($0)] } ?? [])])
    }
    let (after, limit) = (try call.integer("after") ?? 0, try call.limit())
    let entries = try call.read { (snapshot) throws(StorageError) in
      try snapshot.entries(in: namespace, after: after, limit: limit)
    }
    let next = entries.count == limit ? entries.last.map { JSON.int($0.sequence) } : nil
    return .json(.record([("entries", .array(entries.map(JSON.init))), ("next", next)]))
  }

  private static func holds(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let namespace = try call.namespace()
    let (after, limit) = (try call.integer("after") ?? 0, try call.limit())
    let uid = try call.key("uid")?.text
    let holders = Set(call.services.ledger?.declaredCurrencies.map(\.holder) ?? [])
    let open = try call.read { (snapshot) throws(StorageError) in
      let holds = OpenHolds(in: namespace, snapshot)
      return if let uid { try holds.of(player: uid, holders: holders) } else { try holds.all() }
    }
    let page = open.filter { $0.sequence > after }.prefix(limit)
    let next = page.count == limit ? page.last.map { JSON.int($0.sequence) } : nil
    return .json(.record([("holds", .array(page.map { JSON($0) })), ("count", .int(Int64(open.count))), ("next", next)]))
  }

  private static func verify(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let book = try book(call)
    let namespace = try call.namespace()
    return .json(JSON(try asking { () throws(LedgerError) in try book.verify(namespace) }))
  }

  // MARK: Arguments

  /// The currency that is meant: the one that is named, else the game's only one.
  static func unit(_ named: String?, _ book: LedgerService) throws(APIError) -> String {
    if let named { return named }
    guard let unit = Currency.onlyUnit(of: book.declaredCurrencies) else {
      let units = Set(book.declaredCurrencies.map(\.unit)).sorted().joined(separator: ", ")
      throw .badRequest(
        units.isEmpty
          ? Currency.advice(beside: []) : "Name the currency, in commands by --unit: this game has \(units).")
    }
    return unit
  }

  static func book(_ call: RouteCall) throws(APIError) -> LedgerService {
    guard let book = call.services.ledger else {
      throw APIError(.notImplemented, "not_available", "This server keeps no ledger.")
    }
    return book
  }

  static func asking<Value>(_ body: () throws(LedgerError) -> Value) throws(APIError) -> Value {
    do throws(LedgerError) {
      return try body()
    } catch {
      throw APIError(error)
    }
  }
}

extension LedgerRoutes {
  private static let account = RouteDescription.Parameter(
    "account", .filled, required: true, "The account: user:bob, issuance:signup.")
  private static let hold = RouteDescription.Parameter(
    "sequence", .count, required: true, "The sequence of the entry that made the hold.")

  static let balanceDescription = RouteDescription(
    query: [.namespace, account, .init("unit", .filled, "The currency; pieces_of_eight if it is not given.")],
    answer: .object([.always("account", .text), .always("unit", .text), .always("balance", .int64)]))

  static let statementDescription = RouteDescription(
    query: [.namespace, account, .init("before", .count, "Only entries before this one."), .limit(50)],
    answer: .object([
      .always("account", .text), .always("entries", .list(.named("Entry"))), .maybe("next", .count, "the next page's before"),
    ]))

  static let entriesDescription = RouteDescription(
    query: [
      .namespace, .init("after", .count, "Only entries after this one."), .limit(50),
      .init("key", .filled, "Only the entry made under this business key."),
    ],
    answer: .object([.always("entries", .list(.named("Entry"))), .maybe("next", .count, "the next page's after")]))

  static let verifyDescription = RouteDescription(
    query: [.namespace],
    answer: .object([
      .always("sound", .boolean), .always("entries", .count), .always("accounts", .count), .always("lastHash", .text),
      .maybe("firstBrokenEntry", .count), .always("faultCount", .count), .always("faults", .list(.any)),
      .always("unbackedCount", .count), .always("unbacked", .list(.any), "values in the tree that are no balances"),
    ]))

  private static let posted = JSONSchema.object([
    .always("entry", .named("Entry")), .always("repeated", .boolean, "whether the key was used before, for the same"),
  ])
  private static let ended = JSONSchema.object([
    .always("entry", .named("Entry")), .maybe("rest", .named("Entry")), .always("repeated", .boolean),
  ])
  private static let reason = JSONSchema.Field.maybe("reason", .text, "why, for the record")
  private static let subject = JSONSchema.Field.maybe("subject", .text, "whom it is about, if neither account says it")
  private static let amount = JSONSchema.integer(1 ... .max)

  static let transferDescription = RouteDescription(
    query: [.namespace],
    body: [
      .always("debit", .filled, "the account that gives"), .always("credit", .filled, "the account that gets"),
      .always("amount", amount), .maybe("unit", .filled), .maybe("code", .filled, "why, in one word"),
      .always("key", .filled, "unique for ever: a second transfer under it is not made"), subject, reason,
      .maybe("allowNegative", .boolean, "whether a player's balance may go below zero"),
    ], answer: posted)

  static let reverseDescription = RouteDescription(
    query: [.namespace],
    body: [
      .always("sequence", .count, "the entry"), .always("reason", .filled, "why, for the record"),
      .maybe("policy", .choice(["allowNegative", "refuse"]), "what if the coins were spent"),
    ], answer: posted)

  static let holdDescription = RouteDescription(
    query: [.namespace],
    body: [
      .always("from", .filled, "the account that gives"), .always("owner", .filled, "in whose name they wait"),
      .always("amount", amount), .maybe("unit", .filled), .always("key", .filled, "unique for ever"),
      .maybe("expiresAt", .time, "when they go back by themselves"), subject, reason,
    ], answer: posted)

  static let holdsDescription = RouteDescription(
    query: [
      .namespace, .init("uid", .form(JSONSchema.keyForm), "Only those of this player."),
      .init("after", .count, "Only holds after this one."), .limit(50),
    ],
    answer: .object([
      .always("holds", .list(.named("Entry"))), .always("count", .count, "all that wait"),
      .maybe("next", .count, "the next page's after"),
    ]))

  static let releaseDescription = RouteDescription(
    query: [.namespace], captures: [hold],
    body: [
      .maybe("to", .filled, "the account that gets, the owner's own if not given; the role support may name no other"),
      .maybe("amount", amount, "all if it is not given"), reason,
    ], answer: ended)

  static let voidDescription = RouteDescription(query: [.namespace], captures: [hold], body: [reason], answer: ended)
}

/// What a reward for an invitation rests on, beside the entry that paid it.
enum ReferralEvidence {
  /// An entry as JSON; one that a function made for a player whom somebody invited has `referral`: the link, the click or
  /// the code, and when.
  static func entry(_ entry: LedgerEntry, links: LinkService?) -> JSON {
    let json = JSON(entry)
    guard let links, let player = player(entry), let claim = try? links.claim(of: player) else { return json }
    return .object((json.object ?? []) + [JSON.Member(key: "referral", value: claim.json)])
  }

  /// The player who was invited: whom the entry is about, else who got the coins.
  private static func player(_ entry: LedgerEntry) -> String? {
    guard entry.transfer.function != nil else { return nil }
    if let subject = entry.transfer.subject { return subject }
    let name = entry.transfer.credit.name
    return name.hasPrefix("user:") ? String(name.dropFirst(5)) : name
  }
}
