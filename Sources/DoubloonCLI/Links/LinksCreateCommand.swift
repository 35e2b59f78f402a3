import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon links create`: a short link.
struct LinksCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Create a short link.",
    discussion: """
      The link is what the app opens, and the desktop. Parameters of long links (apn, ibi, isi, st, sd, si, utm_source, …) \
      are given with --set.

      Examples:
        doubloon links create https://acme.test/play --prefix https://go.acme.test/r
        doubloon links create https://acme.test/play --prefix https://go.acme.test/r --suffix summer --name "Summer poster"
        doubloon links create https://acme.test/?invitedby=alice --prefix https://go.acme.test/r \\
          --set apn=test.acme.app --set ibi=test.acme.ios --set "st=Alice invites you"
      """)

  @Argument(help: "What the link opens.")
  var link: String

  @Option(help: ArgumentHelp("Below which of the domains.", valueName: "url"))
  var prefix: String

  @Flag(help: "As short as possible, instead of one that nobody can guess.")
  var short = false

  @Option(help: ArgumentHelp("A suffix of your choice.", valueName: "text"))
  var suffix: String?

  @Option(help: ArgumentHelp("What you call it in listings.", valueName: "text"))
  var name: String?

  @Option(
    name: .customLong("set"), help: ArgumentHelp("A parameter of the long link; may be repeated.", valueName: "name=value"))
  var parameters: [String] = []

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    if short, suffix != nil { throw ValidationError("--short and --suffix exclude each other.") }
    if let bad = parameters.first(where: { !$0.contains("=") }) {
      throw ValidationError("--set \(bad): write it as name=value.")
    }
  }

  func run() async throws {
    let pairs =
      [("link", link)]
      + parameters.map { text in
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), String(parts[1]))
      }
    let query = pairs.map { "\(PercentEncoding.segment($0.0))=\(PercentEncoding.segment($0.1))" }.joined(separator: "&")
    let base = prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix
    var members = [JSON.Member(key: "longDynamicLink", value: .string("\(base)/?\(query)"))]
    if let suffix {
      members.append(JSON.Member(key: "suffix", value: ["option": "CUSTOM", "customSuffix": .string(suffix)]))
    } else {
      members.append(JSON.Member(key: "suffix", value: ["option": .string(short ? "SHORT" : "UNGUESSABLE")]))
    }
    if let name { members.append(JSON.Member(key: "name", value: .string(name))) }
    let body = JSON.object(members)
    let path = name == nil ? "/v1/shortLinks" : "/v1/managedShortLinks:create"
    let answer = try await server.withClient { client in try await client.post(path, body, query: server.query) }
    output.print(answer, Self.text)
  }

  /// The short link, and what is doubtful about it.
  static func text(_ answer: JSON) -> String {
    let link = answer["shortLink"]?.string ?? answer["managedShortLink"]?["link"]?.string ?? "?"
    let warnings = answer.listed("warning").map {
      "warning: \($0["warningCode"]?.string ?? ""): \($0["warningMessage"]?.string ?? "")".printable
    }
    let code = answer["code"]?.string.map { ["code: \($0)"] } ?? []
    return ([link.printable] + code + warnings).joined(separator: "\n")
  }
}
