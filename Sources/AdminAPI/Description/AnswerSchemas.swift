import HTTPServer

/// The shapes that several routes answer with, by name. What a record has beyond them may grow.
enum AnswerSchemas {
  static let all: [(name: String, schema: Schema)] = [
    ("Error", .object([.always("error", .filled, "a sentence for people"), .always("code", .filled, "a word for programs")])),
    ("Done", .object([.always("status", .choice(["ok"]))])),
    ("Event", event), ("Execution", execution), ("Delivery", delivery), ("Entry", entry), ("Function", function),
    ("Cause", .object([.always("event", .text), .always("function", .text)])), ("Change", change), ("AuditRecord", audit),
  ]

  static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0.schema) })

  private static let event = Schema.object([
    .always("id", .text, "EPOCH-REVISION:PATH"), .always("kind", .choice(["created", "updated", "deleted"])),
    .always("path", .text), .always("revision", .count), .always("hop", .count, "functions between the first write and it"),
    .maybe("time", .time), .maybe("actor", .text), .maybe("requestId", .text), .maybe("cause", .named("Cause")),
    .always("executions", .list(.named("Execution"))), .always("deliveries", .list(.named("Delivery"))),
  ])

  private static let execution = Schema.object([
    .always("event", .text), .always("function", .text), .always("outcome", .choice(["done", "skipped"])),
    .maybe("reason", .text), .always("attempt", .count), .always("startedAt", .time), .always("finishedAt", .time),
    .maybe("effect", .count, "the revision of its commit"), .maybe("settings", .any),
  ])

  private static let delivery = Schema.object([
    .always("event", .text), .always("function", .text), .always("state", .choice(["waiting", "paused", "dead"])),
    .always("kind", .text), .always("hop", .count), .always("attempts", .count), .always("crashes", .count),
    .maybe("nextAttemptAt", .time), .always("lastError", .text), .always("updatedAt", .time),
  ])

  private static let entry = Schema.object([
    .always("sequence", .count), .always("revision", .count), .always("time", .time), .always("debit", .text),
    .always("credit", .text), .always("amount", .int64), .always("unit", .text), .always("code", .text),
    .always("key", .text), .maybe("event", .text), .maybe("function", .text), .maybe("subject", .text),
    .maybe("reverses", .count), .maybe("reason", .text), .maybe("expiresAt", .time), .always("debitAfter", .int64),
    .always("creditAfter", .int64), .always("hash", .text),
    .maybe("referral", .object([]), "the claim that a reward for an invitation rests on: inviter, link, click or code"),
  ])

  private static let function = Schema.object([
    .always("name", .text), .always("pattern", .text), .always("kinds", .text), .always("paused", .boolean),
    .maybe("pauseReason", .text), .always("updatedAt", .time),
    .maybe("settings", .any, "with their values, its limits among them"),
    .maybe("deadLetters", FunctionTroubles.Pile.schema, "what it gave up on: so many, and the last of them"),
    .maybe("retries", FunctionTroubles.Pile.schema, "what it failed on, and tries again"),
  ])

  private static let change = Schema.object([
    .always("path", .text), .always("before", .any), .always("after", .any), .maybe("revision", .count),
  ])

  private static let audit = Schema.object([
    .always("id", .count), .always("time", .time), .always("actor", .text), .always("action", .text),
    .always("detail", .any), .always("result", .text, "ok, or why it was refused"),
  ])
}
