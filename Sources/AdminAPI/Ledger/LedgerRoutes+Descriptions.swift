import HTTPServer

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

  private static let posted = Schema.object([
    .always("entry", .named("Entry")), .always("repeated", .boolean, "whether the key was used before, for the same"),
  ])
  private static let ended = Schema.object([
    .always("entry", .named("Entry")), .maybe("rest", .named("Entry")), .always("repeated", .boolean),
  ])
  private static let reason = Schema.Field.maybe("reason", .text, "why, for the record")
  private static let subject = Schema.Field.maybe("subject", .text, "whom it is about, if neither account says it")
  private static let amount = Schema.integer(1 ... .max)

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
      .namespace, .init("uid", .form(Schema.keyForm), "Only those of this player."),
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
