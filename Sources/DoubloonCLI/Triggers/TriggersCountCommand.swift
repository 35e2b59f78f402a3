import AdminClient
import ArgumentParser
import TreeModel

/// `doubloon triggers count`: how many events there are, and what came of them.
struct TriggersCountCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count",
    abstract: "Count events and what came of them.",
    discussion: """
      Counts what "list" with the same filter would show.

      Examples:
        doubloon triggers count --since yesterday
        doubloon triggers count --function rewardReferrals --outcome dead
      """)

  @OptionGroup
  var filter: EventFilter

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let query = server.query + filter.query + [QueryItem("count", "true")]
    let answer = try await server.withClient { client in try await Self.count(client, query) }
    output.print(answer, Self.text)
  }

  /// Adds the counts of page after page up.
  private static func count(_ client: AdminClient, _ query: [QueryItem]) async throws -> JSON {
    var progress = ProgressLine(DoubloonCommandLine.output)
    defer { progress.clear() }
    var (count, scanned) = (Int64(0), Int64(0))
    var outcomes: [(name: String, count: Int64)] = []
    var cursor: String?
    repeat {
      let page = try await client.get(AdminPath.events, query: query + [QueryItem("cursor", cursor)].compactMap(\.self))
      count += page["count"]?.int ?? 0
      scanned += page["scanned"]?.int ?? 0
      for member in page["outcomes"]?.object ?? [] {
        if let index = outcomes.firstIndex(where: { $0.name == member.key }) {
          outcomes[index].count += member.value.int ?? 0
        } else {
          outcomes.append((member.key, member.value.int ?? 0))
        }
      }
      cursor = page["next"]?.string
      progress.show("Looked at \(scanned.grouped) events")
    } while cursor != nil
    return [
      "count": .int(count), "outcomes": .object(outcomes.map { .init(key: $0.name, value: .int($0.count)) }),
      "scanned": .int(scanned),
    ]
  }

  static func text(_ answer: JSON) -> String {
    let head = (answer["count"]?.int ?? 0).counted("event", "events")
    let outcomes = (answer["outcomes"]?.object ?? []).map { "\($0.key) \(($0.value.int ?? 0).grouped)" }
    return outcomes.isEmpty ? "\(head)." : "\(head): \(outcomes.joined(separator: ", "))."
  }
}
