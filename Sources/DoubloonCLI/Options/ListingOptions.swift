import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// What every listing takes: how many rows, how they are printed, and of which server.
struct ListingOptions: ParsableArguments {
  @Option(help: ArgumentHelp("At most so many rows, 1 to 1000.", valueName: "count"))
  var limit = 50

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") }
  }

  /// The limit as queries have it.
  var count: Int64 { Int64(limit) }

  /// Asks for one page.
  ///
  /// - `spansNamespaces`: whether the listing is not about one namespace.
  func page<Query, Answer>(
    of endpoint: Endpoint<Query, NoBody, Answer>, at captures: [String] = [], query: Query, spansNamespaces: Bool = false
  ) async throws -> AdminAnswer<Answer> {
    try await server.withClient(spansNamespaces: spansNamespaces) { client in
      try await client.call(endpoint, at: captures, query: query, namespace: server.namespace)
    }
  }
}

extension TextTable {
  /// The rows, or what is said in their place where there are none; below them how to go on, if there is a next page.
  ///
  /// - `option`: takes `next`.
  /// - `width`: how long a line may be; nil for as long as it is.
  func page(empty: String, next: String?, by option: String, within width: Int? = nil) -> String {
    (isEmpty ? empty : render(within: width)) + Self.nextPageText(next, by: option)
  }

  /// How to get the next page of a listing, behind an empty line; empty if this one is the last.
  static func nextPageText(_ next: String?, by option: String) -> String {
    guard let text = next?.printable else { return "" }
    let isPlain = text.utf8.allSatisfy { byte in
      (48...57).contains(byte) || (97...122).contains(byte | 0x20) || "._:/@-".utf8.contains(byte)
    }
    return "\n\nThere may be more: add \(option) \(isPlain ? text : "'\(text)'")."
  }
}

/// How a listing is printed.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print the server's JSON instead of text for people.")
  var json = false

  /// Prints the answer: as JSON if that was asked for, else as `text` makes it.
  func print(_ answer: JSON, _ text: (JSON) throws -> String) rethrows {
    if json {
      DoubloonCommandLine.output.line(answer.prettyText)
    } else {
      DoubloonCommandLine.output.line(try text(answer))
    }
  }

  /// The same for what an endpoint answered; as JSON it is printed as the server sent it.
  func print<Value>(_ answer: AdminAnswer<Value>, _ text: (Value) throws -> String) rethrows {
    try print(answer.json) { _ in try text(answer.value) }
  }
}
