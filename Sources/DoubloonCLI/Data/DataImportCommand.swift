import AdminClient
import AdminModel
import ArgumentParser
import ServerConfiguration
import TreeModel

/// `doubloon data import`: replaces a part of the tree by a file, part by part.
struct DataImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Replace the value at a path by a JSON file.",
    discussion: """
      The file is checked whole before anything is written. Its values are sent in the order of the tree, some thousands at \
      a time: each part is one commit, the whole is not. What ends an import leaves its first parts, and the same import \
      may simply be run again. Functions do not see it unless --triggers is given. Balances get opening entries in the \
      ledger.

      Examples:
        doubloon data import / firebase-export.json --dry-run
        doubloon data import / firebase-export.json
        doubloon data import /users users.json --ns my-game-default-rtdb --reason "from the old server"
      """)

  @Argument(help: "The place in the tree.", transform: PathArgument.init(argument:))
  var path: PathArgument

  @Argument(help: ArgumentHelp("The JSON file; - for the standard input.", valueName: "file"))
  var file: String

  @Flag(inversion: .prefixedNo, help: "Whether functions see the change.")
  var triggers = false

  @Flag(help: "Only count what would be added, changed and removed.")
  var dryRun = false

  @Option(help: ArgumentHelp("Why, for the record.", valueName: "text"))
  var reason = "doubloon data import"

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    if path.target.isPriority { throw ValidationError("A file replaces a node; set a priority with \"doubloon data set\".") }
    if reason.isEmpty { throw ValidationError("--reason must say something.") }
  }

  func run() async throws {
    let name = file == "-" ? "the standard input" : file
    let json = try JSONInput.parse(try FileBytes.read(file), from: name)
    let node: TreeNode
    do {
      // The same reading as the server's: what it would refuse in the middle is refused before the start.
      node = try TreeNode(json: json, depth: path.target.path.depth)
    } catch {
      throw CommandError("\(name): \(error) Nothing was written.")
    }
    let order = AdminTree.ImportOrder(path: path.text, triggers: triggers, dryRun: dryRun, reason: reason)
    var parts = ImportParts(node, at: path.target.path, order: order)
    let sum = try await server.withClient { client in
      try await parts.send(by: client, namespace: server.namespace, progress: ProgressLine(DoubloonCommandLine.output))
    }
    DoubloonCommandLine.output.line(text(of: sum, count: parts.count))
  }

  private func text(of sum: AdminTree.Imported, count: Int) -> String {
    var changes = ["\(sum.added.grouped) added", "\(sum.changed.grouped) changed", "\(sum.removed.grouped) removed"]
    if sum.priorities > 0 { changes.append("\(sum.priorities.grouped) priorities of nodes") }
    if triggers { changes.append("\(sum.events.grouped) events") }
    let verb = dryRun ? "Would import" : "Imported"
    return "\(verb) \(count.counted("value", many: "values")) at \(path.text): \(changes.joined(separator: ", "))."
  }
}

/// A document in parts, in the order of the tree.
struct ImportParts {
  /// Of one request; the server takes what goes into one commit.
  private static let partMax = (values: 5000, bytes: 1 << 20)

  private let base: Path
  private let order: AdminTree.ImportOrder
  private let leaves: [Leaf]
  /// Each value with its priority, and before it the priorities of the nodes whose first value it is: none stands apart.
  private let values: [Range<Int>]

  init(_ node: TreeNode, at path: Path, order: AdminTree.ImportOrder) {
    base = path
    self.order = order
    leaves = node.leaves(at: PathBytes(path))
    var values: [Range<Int>] = []
    var start = 0
    for (index, leaf) in leaves.enumerated() where !leaf.path.isPriority {
      let next = index + 1
      let end = next < leaves.count && leaves[next].path == leaf.path.priority ? next + 1 : next
      values.append(start..<end)
      start = end
    }
    self.values = values
  }

  /// Values in the document.
  var count: Int { values.count }

  /// Sends all of it.
  ///
  /// - Returns: the sums of what became of the parts.
  mutating func send(by client: AdminClient, namespace: String?, progress: consuming ProgressLine) async throws
    -> AdminTree.Imported
  {
    defer { progress.clear() }
    var order = order
    var done = 0
    var sum = AdminTree.Imported(revision: 0)
    repeat {
      let end = end(from: done)
      order.value = value(done..<end)
      order.last = end == count
      let part: AdminTree.Imported
      do {
        part = try await client.call(AdminTree.take, body: order, namespace: namespace, timeout: DataTransfer.timeout).value
      } catch let error as AdminClientError where done > 0 && order.dryRun != true {
        throw CommandError(
          "\(error) \(done.grouped) of \(count.grouped) values are in, up to \(order.after ?? "none"); the same import may be run again."
        )
      }
      done += Int(part.taken)
      order.after = part.through ?? order.after
      sum.add(part)
      progress.show("\(order.dryRun == true ? "Compared" : "Imported") \(done.grouped) of \(count.grouped) values")
    } while !sum.complete
    return sum
  }

  /// Where the part ends that begins with a value.
  private func end(from start: Int) -> Int {
    var (end, bytes) = (start, 0)
    while end < count, end - start < Self.partMax.values, bytes < Self.partMax.bytes {
      bytes += leaves[values[end]].reduce(0) { $0 + $1.bytes }
      end += 1
    }
    return end
  }

  private func value(_ part: Range<Int>) -> JSON? {
    guard let first = part.first, let last = part.last else { return nil }
    let leaves = Array(leaves[values[first].lowerBound..<values[last].upperBound])
    return TreeNode(leaves: leaves, at: PathBytes(base))?.jsonValue(.export)
  }
}

extension AdminTree.Imported {
  /// Adds what became of the next part.
  fileprivate mutating func add(_ part: AdminTree.Imported) {
    revision = part.revision
    added += part.added
    changed += part.changed
    removed += part.removed
    same += part.same
    priorities += part.priorities
    events += part.events
    complete = part.complete
  }
}
