import APISupport
import HTTPServer
import Ledger
import NIOHTTP1
import RewardModel
import StorageCore
import TreeModel

/// The ledger: looking, and what administrators may do with it.
enum LedgerRoutes {
  static let routes: [Route] =
    [
      Route.listing("/admin/v1/ledger/balance", "An account's balance.", balance).described(balanceDescription),
      Route.listing("/admin/v1/ledger/statement", "An account's entries, newest first.", statement)
        .described(statementDescription),
      Route.listing("/admin/v1/ledger/entries", "All entries, oldest first, or the one made under a key.", entries)
        .described(entriesDescription),
      Route.listing("/admin/v1/ledger/verify", "Audits the whole ledger of a namespace.", verify)
        .described(verifyDescription),
    ] + transfers + [
      Route.change(
        .POST, "/admin/v1/ledger/reverse", audit: "ledger.reverse", "Takes an entry back by a new one.", access: .support,
        reverse
      ).described(reverseDescription),
      Route.listing("/admin/v1/ledger/holds", "What is held and waits, oldest first.", holds).described(holdsDescription),
      Route.change(.POST, "/admin/v1/ledger/holds", audit: "ledger.hold", "Sets coins aside.", hold)
        .described(holdDescription),
      Route.change(
        .POST, "/admin/v1/ledger/holds/{sequence}/release", audit: "ledger.release",
        "Pays a hold out: to the player for whom it is held, or as an administrator says.", access: .support, release
      ).described(releaseDescription),
      Route.change(
        .POST, "/admin/v1/ledger/holds/{sequence}/void", audit: "ledger.void", "Gives a hold back.", access: .support, voidHold
      )
      .described(voidDescription),
    ]

  private static let transfers: [Route] = ["/admin/v1/ledger/transfer", "/admin/v1/ledger/transfers"].map { path in
    Route.change(
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
  static func unit(_ named: String?, _ book: LedgerBook) throws(APIError) -> String {
    if let named { return named }
    guard let unit = Currency.onlyUnit(of: book.declaredCurrencies) else {
      let units = Set(book.declaredCurrencies.map(\.unit)).sorted().joined(separator: ", ")
      throw .badRequest(
        units.isEmpty
          ? Currency.advice(beside: []) : "Name the currency, in commands by --unit: this game has \(units).")
    }
    return unit
  }

  static func book(_ call: RouteCall) throws(APIError) -> LedgerBook {
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
