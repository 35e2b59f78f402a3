import APISupport
import HTTPServer
import Ledger
import NIOHTTP1
import RewardModel
import StorageCore
import TreeModel

extension LedgerRoutes {
  static func transfer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let body = try call.body()
    let book = try book(call)
    let transfer = LedgerTransfer(
      debit: LedgerAccount(try body.required("debit")), credit: LedgerAccount(try body.required("credit")),
      amount: try body.requiredInteger("amount"), unit: try unit(try body.optional("unit"), book),
      code: try body.optional("code") ?? "transfer", key: BusinessKey(try body.required("key")),
      subject: try body.optional("subject"), reason: try body.optional("reason"),
      allowsNegative: body["allowNegative"]?.bool ?? false)
    let namespace = try call.namespace()
    return posted(
      try await changing { () throws(LedgerError) in
        try await book.transfer(transfer, in: namespace, by: call.caller.actor)
      })
  }

  static func reverse(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let body = try call.body()
    let sequence = try body.requiredInteger("sequence")
    let reason = try body.required("reason")
    let name = try body.optional("policy") ?? ReversalPolicy.allowNegative.rawValue
    guard let policy = ReversalPolicy(rawValue: name) else {
      throw .badRequest("\"policy\" must be \(ReversalPolicy.allCases.map(\.rawValue).joined(separator: " or ")).")
    }
    let book = try book(call)
    let namespace = try call.namespace()
    return posted(
      try await changing { () throws(LedgerError) in
        try await book.reverse(sequence, in: namespace, by: call.caller.actor, reason: reason, policy: policy)
      })
  }

  static func hold(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let body = try call.body()
    let book = try book(call)
    let unit = try unit(try body.optional("unit"), book)
    let order = HoldOrder(
      from: LedgerAccount(try body.required("from")), owner: owner(try body.required("owner"), unit, book),
      amount: try body.requiredInteger("amount"), unit: unit, key: BusinessKey(try body.required("key")),
      expiresAt: try body.optionalInteger("expiresAt"), subject: try body.optional("subject"),
      reason: try body.optional("reason"))
    let namespace = try call.namespace()
    return posted(
      try await changing { () throws(LedgerError) in try await book.hold(order, in: namespace, by: call.caller.actor) })
  }

  static func release(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let body = try call.body()
    let (amount, reason) = (try body.optionalInteger("amount"), try body.optional("reason"))
    let (book, sequence, namespace) = (try book(call), try sequence(call), try call.namespace())
    let receiver: LedgerAccount
    if let named = try body.optional("to") {
      receiver = LedgerAccount(named)
    } else {
      receiver = try ownAccount(ofHold: sequence, book, namespace)
    }
    if !call.caller.isAdmin { try checkReceiver(receiver, ofHold: sequence, book, namespace) }
    return ended(
      try await changing { () throws(LedgerError) in
        try await book.release(
          sequence, to: receiver, amount: amount, in: namespace, by: call.caller.actor, reason: reason)
      })
  }

  static func voidHold(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let reason = try call.body().optional("reason")
    let (book, sequence, namespace) = (try book(call), try sequence(call), try call.namespace())
    return ended(
      try await changing { () throws(LedgerError) in
        try await book.void(sequence, in: namespace, by: call.caller.actor, reason: reason)
      })
  }

  /// In whose name coins are held: the player, also where the player's account is named.
  private static func owner(_ text: String, _ unit: String, _ book: LedgerService) -> String {
    for currency in book.declaredCurrencies where currency.unit == unit && text.hasPrefix("\(currency.holder):") {
      return String(text.dropFirst(currency.holder.count + 1))
    }
    return text
  }

  /// The account of the player in whose name coins are held.
  private static func ownAccount(ofHold sequence: Int64, _ book: LedgerService, _ namespace: NamespaceID) throws(APIError)
    -> LedgerAccount
  {
    let entry = try asking { () throws(LedgerError) in try book.entry(in: namespace, sequence: sequence) }
    guard let hold = entry?.transfer, hold.credit.isHold else {
      throw APIError(
        .notFound, "not_found", "Entry \(sequence) made no hold; \"doubloon ledger holds list\" shows those that wait.")
    }
    let holders = Set(book.declaredCurrencies.filter { $0.unit == hold.unit }.map(\.holder))
    guard holders.count == 1, let holder = holders.first else {
      throw .badRequest("\(hold.unit) is held by several kinds of account: say which gets the coins (\"to\", or --to).")
    }
    return LedgerAccount("\(holder):\(hold.credit.owner)")
  }

  /// A hold's coins may have come from anywhere: sent to any account they would be a transfer, which takes an administrator.
  private static func checkReceiver(
    _ receiver: LedgerAccount, ofHold sequence: Int64, _ book: LedgerService, _ namespace: NamespaceID
  ) throws(APIError) {
    let entry = try asking { () throws(LedgerError) in try book.entry(in: namespace, sequence: sequence) }
    guard let hold = entry?.transfer, hold.credit.isHold else { return }
    let isOwner = book.declaredCurrencies.contains { currency in
      currency.unit == hold.unit
        && [LedgerAccount("\(currency.holder):\(hold.credit.owner)"), LedgerAccount(String(hold.credit.owner))].contains(
          receiver)
    }
    guard !isOwner else { return }
    throw APIError(
      .forbidden, "role_needed",
      "Hold \(sequence) is held for \(hold.credit.owner): to pay it to \(receiver) takes the role admin. Release it to the "
        + "player's own account, void it, or ask an administrator.")
  }

  private static func sequence(_ call: RouteCall) throws(APIError) -> Int64 {
    guard let sequence = call.captures["sequence"].flatMap({ Int64($0) }) else {
      throw .badRequest("A hold is named by the sequence of the entry that made it, a number.")
    }
    return sequence
  }

  private static func posted(_ posted: PostedTransfer) -> HTTPResponse {
    .json(["entry": JSON(posted.entry), "repeated": .bool(posted.isRepeated)])
  }

  private static func ended(_ ending: HoldEnding) -> HTTPResponse {
    .json(
      .record([
        ("entry", JSON(ending.entry)), ("rest", ending.rest.map { JSON($0) }), ("repeated", .bool(ending.isRepeated)),
      ]))
  }

  private static func changing<Value>(_ body: () async throws(LedgerError) -> Value) async throws(APIError) -> Value {
    do throws(LedgerError) {
      return try await body()
    } catch {
      throw APIError(error)
    }
  }
}
