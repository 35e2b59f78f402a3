import HTTPServer

extension EventRoutes {
  private static let event = RouteDescription.Parameter(
    "event", .form(Schema.eventForm), required: true, "The event's id: 1-42:/users/bob/level.")
  /// How far a page of the log looked.
  private static let scan: [Schema.Field] = [
    .maybe("next", .text, "the cursor of the next page; missing at the end"),
    .always("scanned", .count, "events that were looked at"),
    .always("scannedThrough", .count, "every event of this revision and later ones was looked at"),
    .always("complete", .boolean, "whether that was the end"),
  ]

  static let listDescription = RouteDescription(
    query: [
      .namespace, .since, .until, .function,
      .init("outcome", .choice(EventFilter.outcomes), "Only with this outcome for a function."),
      .init("reason", .filled, "Only where this stands in the reason or the error."),
      .init("attempt", .integer(0...1_000_000), "Only after so many attempts, or more."),
      .init("actor", .filled, "Only written by this actor (user:bob), or this kind of actor (user)."),
      .init("path", .form(#"^[^.#$\[\]{}*\x00-\x1F\x7F]*$"#), "Only at this path or below; or at a pattern: /users/*/level."),
      .init("uid", .form(Schema.keyForm), "Only about this player: in the path, or with coins moved on an account of theirs."),
      .init(
        "cause", .form(#"^([0-9]{1,9}|[0-9]{1,9}-[0-9]{1,9}:/[^.#$\[\]\x00-\x1F\x7F]*)$"#),
        "Only this event, or the events of this revision, and what came of them."),
      .init("count", .boolean, "Only how many."), .limit(50),
      .init("cursor", .form(#"^[0-9]{1,9}:(/[^.#$\[\]\x00-\x1F\x7F]*)?$"#), "The \"next\" of an earlier page."),
    ],
    answer: .object(
      [
        .maybe("events", .list(.named("Event"))), .maybe("count", .count),
        .maybe("outcomes", .object([]), "runs by outcome"),
        .maybe("erased", ErasureRoutes.erasure, "of the player who was asked for"),
      ] + scan))

  static let showDescription = RouteDescription(
    query: [.namespace], captures: [event],
    answer: .object([
      .always("id", .text), .always("before", .any), .always("after", .any),
      .maybe("invocation", ReplayRoutes.invocation, "of a run by hand"),
      .maybe("cut", .boolean, "whether before or after has more leaves than are shown"),
      .maybe("erased", ErasureRoutes.place, "if before and after are not known any more"),
      .always(
        "matches",
        .list(
          .object([
            .always("function", .text), .always("pattern", .text), .always("captures", .object([])), .always("runsOn", .text),
          ]))),
      .always("write", .nullable(CommitRow.schema)), .always("executions", .list(.named("Execution"))),
      .always("deliveries", .list(.named("Delivery"))),
      .always(
        "failures",
        .list(
          .object([
            .always("function", .text), .always("attempt", .count), .maybe("startedAt", .count),
            .always("finishedAt", .count), .always("error", .text), .maybe("settings", .any),
          ])), "attempts that failed, oldest first"),
      .always("effects", .list(.named("Change"))),
      .always("entries", .list(.named("Entry"))),
      .always("children", .list(.object([.always("id", .text), .always("kind", .text)])), "events that its effects caused"),
      .always(
        "outbox", .list(.object([.always("key", .text), .always("outlet", .text), .always("state", .text)])),
        "messages to the outside"),
    ]))

  static let redeliverDescription = RouteDescription(
    query: [.namespace], captures: [event], body: [], answer: .named("Done"))

  static let executionsDescription = RouteDescription(
    query: [.namespace, event], answer: .object([.always("executions", .list(.named("Execution")))]))

  static let deadLettersDescription = RouteDescription(
    query: [
      .namespace, .limit(100),
      .init("cursor", .form(#"^[A-Za-z0-9_-]+ [0-9]{1,9}-[0-9]{1,9}:/[A-Za-z0-9/_-]*$"#), "The next of a page."),
    ],
    answer: .object([.always("deadLetters", .list(.named("Delivery"))), .maybe("next", .text)]))

  static let drainDescription = RouteDescription(
    query: [
      .init("timeout", .form("^([0-9]{1,6}ms|[0-9]{1,3}s?|[0-9]min)$"), "How long to wait: 500ms, 30s, 2min; at most an hour.")
    ],
    body: [],
    answer: .object([
      .always("settled", .boolean), .always("running", .list(.any)),
      .always("unfinished", .list(.any), "what waits for a retry, is paused or dead"),
    ]),
    others: [504: "Not settled in time; what is running is listed."])
}
