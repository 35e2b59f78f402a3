import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon links edit`: what a short link says, and what it is called.
struct LinksEditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Change what a short link says, or what it is called; its address stays.",
    discussion: """
      Parameters of long links (link, apn, ibi, isi, st, sd, si, utm_source, …) are given with --set and taken away with \
      --unset; what is not named stays. A printed code goes on to work.

      Examples:
        doubloon links edit https://go.acme.test/r/aB3x --to https://acme.test/summer
        doubloon links edit https://go.acme.test/r/aB3x --set "st=Come aboard" --unset si
        doubloon links edit https://go.acme.test/r/aB3x --name "Summer poster"
      """)

  @OptionGroup
  var choice: LinkChoice

  @Option(help: ArgumentHelp("What it opens from now on.", valueName: "url"))
  var to: String?

  @Option(help: ArgumentHelp("What you call it; an empty text takes the name away.", valueName: "text"))
  var name: String?

  @Option(
    name: .customLong("set"), help: ArgumentHelp("A parameter of the long link; may be repeated.", valueName: "name=value"))
  var parameters: [String] = []

  @Option(help: ArgumentHelp("A parameter that is taken away; may be repeated.", valueName: "name"))
  var unset: [String] = []

  mutating func validate() throws {
    if let bad = parameters.first(where: { !$0.contains("=") }) {
      throw ValidationError("--set \(bad): write it as name=value.")
    }
    guard to != nil || name != nil || !parameters.isEmpty || !unset.isEmpty else {
      throw ValidationError("Say what to change: --to, --name, --set, --unset.")
    }
  }

  func run() async throws {
    var changes: [JSON.Member] = to.map { [JSON.Member(key: "link", value: .string($0))] } ?? []
    for text in parameters {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      changes.append(JSON.Member(key: String(parts[0]), value: .string(String(parts[1]))))
    }
    changes += unset.map { JSON.Member(key: $0, value: .null) }
    var members: [JSON.Member] = []
    if let name { members.append(JSON.Member(key: "name", value: .string(name))) }
    if !changes.isEmpty { members.append(JSON.Member(key: "parameters", value: .object(changes))) }
    choice.output.print(try await choice.change(.object(members)), Self.text)
  }

  /// The link as it is now, and what is doubtful about it.
  static func text(_ answer: JSON) -> String {
    let warnings = answer.listed("warning").map {
      "warning: \($0["warningCode"]?.string ?? ""): \($0["warningMessage"]?.string ?? "")".printable
    }
    return ([LinksShowCommand.text(answer["link"] ?? .null)] + warnings).joined(separator: "\n")
  }
}
