import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// What all writes of `doubloon data` share.
struct DataWriteOptions: ParsableArguments {
  @Flag(inversion: .prefixedNo, help: "Whether functions see the change.")
  var triggers = true

  @Flag(help: "Only say what it would do: values, events with their functions, balances.")
  var dryRun = false

  @Option(help: ArgumentHelp("Refuse if something changed there, or below, after this revision.", valueName: "revision"))
  var ifRevision: Int64?

  @Option(help: ArgumentHelp("Why, for the audit log.", valueName: "text"))
  var reason: String?

  @OptionGroup
  var output: OutputOptions

  mutating func validate() throws {
    if let ifRevision, ifRevision < 0 { throw ValidationError("--if-revision must be a revision.") }
    if reason?.isEmpty == true { throw ValidationError("--reason must say something.") }
  }

  /// The parameters of the request.
  var query: [QueryItem] { triggers ? [] : [QueryItem("disableTriggers", "true")] }

  /// Whether the administrators' surface takes the write, which knows conditions, reasons and trials.
  var isExplained: Bool { dryRun || ifRevision != nil || reason != nil }

  /// Says that it is done.
  func report(_ answer: JSON, sentence: String) {
    output.print(answer) { _ in sentence }
  }

  /// Makes a write with its condition and its reason, or tries it.
  func send(_ method: AdminTree.Method, to path: PathArgument, value: JSON?, server: ServerOptions) async throws {
    let value = method == .delete ? nil : value
    if dryRun {
      let order = AdminTree.PreviewOrder(
        path: path.text, method: method, value: value, ifRevision: ifRevision, triggers: triggers)
      let answer = try await server.withClient { client in
        try await client.call(AdminTree.preview, body: order, namespace: server.namespace)
      }
      return output.print(answer) { Self.text($0, path: path.text) }
    }
    let order = AdminTree.WriteOrder(
      path: path.text, value: value, ifRevision: ifRevision, triggers: triggers,
      reason: reason ?? "doubloon data \(method == .put ? "set" : method == .patch ? "update" : "remove")")
    let endpoint =
      switch method {
      case .put: AdminTree.put
      case .patch: AdminTree.patch
      case .delete: AdminTree.remove
      }
    let answer = try await server.withClient { client in
      try await client.call(endpoint, body: order, namespace: server.namespace)
    }
    output.print(answer) { written in
      guard written.changed else { return "Nothing changed at \(path.text): that was there already." }
      return "Wrote \(path.text): revision \(written.revision), \(Int(written.events).counted("event", many: "events"))."
    }
  }

  /// What a write would do, a line for each thing.
  static func text(_ preview: AdminTree.Preview, path: String) -> String {
    var lines = [
      "\(path) would have \(Int(preview.leavesAfter).counted("value", many: "values")), and has \(preview.leavesBefore.grouped)."
    ]
    if preview.leavesRemoved > 0 { lines.append("Removed: \(preview.leavesRemoved.grouped).") }
    lines.append(preview.eventCount == 0 ? "No event." : "\(Int(preview.eventCount).counted("event", many: "events")):")
    for event in preview.events {
      let functions = event.functions.isEmpty ? "no function" : event.functions.joined(separator: ", ")
      lines.append("  \(event.kind.rawValue) \(event.path): \(functions)")
    }
    for change in preview.adjustments {
      lines.append("Balance of \(change.account): \(change.before) to \(change.after) \(change.unit), by an adjustment.")
    }
    return lines.map(\.printable).joined(separator: "\n")
  }
}
