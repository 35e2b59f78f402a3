import HTTPServer

extension LogRoutes {
  private static let extent: [Schema.Field] = [
    .maybe("through", .integer(1 ... .max), "up to this revision"), .maybe("before", .time, "up to what was committed before"),
  ]
  private static let checkpoint = Schema.object([
    .always("revision", .count), .always("commitTime", .time), .always("commitHash", .text),
    .always("treeHash", .text, "SHA-256 of the canonical tree"), .always("leaves", .count), .always("actor", .text),
    .always("reason", .text), .always("createdAt", .time),
  ])
  private static let fault = Schema.object([.maybe("revision", .count), .always("message", .text)])
  private static let pruning = Schema.object([
    .always("requested", .count), .always("prunedBefore", .count), .always("pruned", .count, "up to this revision"),
    .maybe("heldBack", .text, "why not as far as was asked for"), .maybe("checkpoint", checkpoint),
  ])

  static let verifyDescription = RouteDescription(
    query: [.namespace],
    answer: .object([
      .always("sound", .boolean), .always("commits", .count), .always("forgotten", .count, "commits without their changes"),
      .always("erased", .count, "commits without the changes of players who left"),
      .always("unsealed", .list(.count), "erasures that are under way or were cut off; order those again"),
      .always("entries", .count), .always("executions", .count), .always("pruned", .count), .always("lastHash", .text),
      .maybe("firstFault", fault), .always("faultCount", .count), .always("faults", .list(fault)),
    ]))
  static let checkpointDescription = RouteDescription(
    query: [.namespace], answer: .object([.always("pruned", .count), .maybe("checkpoint", checkpoint)]))
  static let pruneDescription = RouteDescription(
    query: [.namespace], body: extent + [.always("reason", .filled, "why, for the record")], answer: pruning)
  static let previewDescription = RouteDescription(query: [.namespace], body: extent, answer: pruning)
}
