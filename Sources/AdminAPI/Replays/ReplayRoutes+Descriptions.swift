import HTTPServer
import StorageCore

extension ReplayRoutes {
  private static let id = RouteDescription.Parameter("id", .integer(1 ... .max), required: true, "The replay's number.")
  private static let reason = Schema.Field.always("reason", .filled, "why, for the record")
  private static let before = RouteDescription.Parameter(
    "before", .count, "Only those before this number: the \"next\" of an earlier page.")

  private static let order: [Schema.Field] = [
    .maybe("mode", .choice(ReplayOrder.Mode.allCases.map(\.rawValue)), "failed, or all if an event is named"), reason,
    .maybe("event", .form(Schema.eventForm), "this event alone"), .maybe("function", .filled, "this function alone"),
    .maybe("since", .time, "events from this time on"), .maybe("until", .time, "events up to this time, itself included"),
    .maybe("uid", .form(Schema.keyForm), "events of this player's places"),
    .maybe("suppressed", .boolean, "also writes that told functions to sleep: imports, and with triggers suppressed"),
    .maybe("allowHandled", .boolean, "also where another function has handled the pattern"),
    .maybe("rate", .integer(0...1_000_000), "events a second at most; 0 or none: as fast as the server likes"),
  ]
  private static let replay = Schema.object([
    .always("id", .count), .always("state", .choice(["running", "paused", "done", "cancelled", "failed"])),
    .always("order", .any, "what was asked for, by whom and why"), .always("progress", .any, "where it stands, and its counts"),
    .always("createdAt", .time), .always("updatedAt", .time),
  ])
  static let invocation = Schema.object([
    .always("id", .count), .always("event", .text), .always("function", .text), .always("path", .text),
    .always("before", .any), .always("after", .any), .always("as", .text, "whose write the function saw"),
    .always("actor", .text, "who ran it"), .always("reason", .text), .always("time", .time),
  ])

  static let listDescription = RouteDescription(
    query: [.namespace, before, .limit(50)],
    answer: .object([.always("replays", .list(replay)), .maybe("next", .count, "the next page's before")]))
  static let startDescription = RouteDescription(query: [.namespace], body: order, answer: replay)
  /// Of what only looks: the answer depends on the order.
  static let trialDescription = RouteDescription(query: [.namespace], body: order, answer: .any)
  static let rebuildDescription = RouteDescription(
    query: [.namespace],
    body: [
      .maybe("into", .form("^/"), "an empty folder of the server's machine, which keeps what is built"),
      .maybe("reason", .text, "why, for the audit log"),
      .maybe("rerun", .boolean, "whether the functions run again, to list what they would do differently"),
    ],
    answer: .object([
      .always("equal", .boolean), .always("through", .count, "the last revision"), .always("commits", .count),
      .always("entries", .count), .always("executions", .count), .always("recorded", .text, "SHA-256 of what is there"),
      .always("rebuilt", .text, "SHA-256 of what was built"), .always("faultCount", .count),
      .always("faults", .list(.text)), .maybe("checkpoint", .count), .maybe("folder", .text), .maybe("rerun", .any),
    ]))
  static let showDescription = RouteDescription(query: [.namespace], captures: [id], answer: .any)
  static let itemsDescription = RouteDescription(
    query: [.namespace, .cursor, .limit(100)], captures: [id],
    answer: .object([
      .always(
        "items",
        .list(
          .object([
            .always("event", .text), .always("function", .text), .always("outcome", .text), .maybe("reason", .text),
            .maybe("effect", .count, "the revision of its commit"),
          ]))), .maybe("next", .text, "the next page's cursor"),
    ]))
  static let stepDescription = RouteDescription(query: [.namespace], captures: [id], body: [], answer: replay)
  static let invokeDescription = RouteDescription(
    query: [.namespace], captures: [.init("name", .filled, required: true, "The function's name.")],
    body: [
      .always("path", .filled, "where the event is said to have happened"),
      .maybe("before", .any, "nothing if it is not given"),
      .maybe("after", .any, "nothing if it is not given"), .maybe("as", .filled, "an actor: user:bob, anonymous"), reason,
    ], answer: .any)
  static let invocationsDescription = RouteDescription(
    query: [.namespace, before, .limit(50)],
    answer: .object([.always("invocations", .list(invocation)), .maybe("next", .count, "the next page's before")]))
  static let acknowledgeDescription = RouteDescription(
    query: [.namespace],
    body: [reason, .maybe("function", .filled, "of this function"), .maybe("event", .form(Schema.eventForm), "of this event")],
    answer: .object([.always("status", .choice(["ok"])), .always("acknowledged", .count, "how many")]))
}
