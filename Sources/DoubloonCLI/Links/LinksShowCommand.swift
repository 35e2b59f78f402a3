import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon links show`: what a short link says.
struct LinksShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show what a short link says.",
    discussion: """
      Examples:
        doubloon links show https://go.acme.test/r/aB3x
      """)

  @OptionGroup
  var choice: LinkChoice

  func run() async throws {
    let answer = try await choice.server.withClient { client in try await client.get(AdminPath.link, query: choice.query) }
    choice.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var lines = [
      "link      \(answer["shortLink"]?.string ?? "?")", "opens     \(answer["info"]?["link"]?.string ?? "-")",
      "created   \(answer["createdAt"]?.timeText ?? "-")",
    ]
    for (label, key) in [("name", "name"), ("inviter", "inviter"), ("code", "code"), ("invite", "invitation")] {
      if let value = answer[key]?.string { lines.append(label.padded(10) + value) }
    }
    for (label, key) in [("changed", "changedAt"), ("disabled", "disabledAt")] {
      if let time = answer[key]?.timeText { lines.append(label.padded(10) + time) }
    }
    lines.append("says      \(answer["longLink"]?.string ?? "-")")
    return lines.map(\.printable).joined(separator: "\n")
  }
}

extension String {
  /// With blanks behind it, for two columns.
  fileprivate func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
