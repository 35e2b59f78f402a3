import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon data children`: a window of the children of a node.
struct DataChildrenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "children",
    abstract: "List the children of a node, some at a time: what each is and when it last changed.",
    discussion: """
      However large the node is, a window costs the same. Only the order by key goes on from one window to the next.

      Examples:
        doubloon data children /users
        doubloon data children /users --after bob
        doubloon data children /users --order level --limit 20
        doubloon data children /users --order level --ge 5
        doubloon data children /users --at yesterday
      """)

  @Argument(help: "The place in the tree.", transform: PathArgument.init(argument:))
  var path: PathArgument

  @Option(help: ArgumentHelp("By $key, $priority, $value, or the value at a path below the child.", valueName: "order"))
  var order: String?

  @Option(help: ArgumentHelp("Only children whose value in that order is this.", valueName: "json"))
  var eq: String?

  @Option(help: ArgumentHelp("Only those of this value or one behind it.", valueName: "json"))
  var ge: String?

  @Option(help: ArgumentHelp("Only those of this value or one before it.", valueName: "json"))
  var le: String?

  @Option(help: ArgumentHelp("The children behind this key.", valueName: "key"))
  var after: String?

  @Option(help: ArgumentHelp("The last children before this key.", valueName: "key"))
  var before: String?

  @Option(help: ArgumentHelp("From this key on, or the first behind it.", valueName: "key"))
  var from: String?

  @Option(
    help: ArgumentHelp("As it was then: \(TreeMoment.forms).", valueName: "time|revision"),
    transform: TreeMoment.init(argument:))
  var at: TreeMoment?

  @Option(help: ArgumentHelp("At most so many, 1 to 200.", valueName: "count"))
  var limit = 100

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...200).contains(limit) else { throw ValidationError("--limit must be 1 to 200.") }
    if [after, before, from].compactMap(\.self).count > 1 {
      throw ValidationError("--after, --before and --from exclude each other.")
    }
  }

  func run() async throws {
    let moment = at?.parameters
    let query = AdminTree.ChildrenQuery(
      path: path.text, order: order, eq: eq, ge: ge, le: le, after: after, before: before, from: from, limit: Int64(limit),
      revision: moment?.revision, time: moment?.time)
    let answer = try await server.withClient { client in
      try await client.call(AdminTree.children, query: query, namespace: server.namespace)
    }
    output.print(answer, Self.text)
  }

  static func text(_ window: AdminTree.Children) -> String {
    var table = TextTable([.text("KEY"), .text("VALUE"), .text("PRIORITY"), .number("REVISION"), .text("CHANGED")])
    for row in window.rows {
      let count = row.children.map { $0 >= 100 ? "100 or more" : "\($0)" } ?? "?"
      let value = row.kind == .node ? "{\(count)}" : row.value.map(\.compactText) ?? ""
      table.add([
        row.key, row.cut == true ? "\(value)… (\((row.bytes ?? 0).grouped) bytes)" : value, row.priority?.compactText ?? "",
        row.revision.map { "\($0)" } ?? "", row.time?.text ?? "",
      ])
    }
    let none =
      window.value.map { "\(window.path) is a value: \($0.compactText)" }
      ?? (window.exists ? "No child is in this window." : "Nothing is at \(window.path).")
    return table.page(empty: none, next: window.next, by: "--after") + window.erased.text
  }
}
