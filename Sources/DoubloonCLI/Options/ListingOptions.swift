import AdminClient
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

  /// Asks for one page.
  ///
  /// - `parameters`: those that have a value are sent, beside the namespace and the limit.
  /// - `spansNamespaces`: whether the listing is not about one namespace.
  func page(of path: String, _ parameters: [QueryItem?] = [], spansNamespaces: Bool = false) async throws -> JSON {
    let query = server.query + parameters.compactMap(\.self) + [QueryItem("limit", String(limit))]
    return try await server.withClient(spansNamespaces: spansNamespaces) { client in
      try await client.get(path, query: query)
    }
  }
}

extension TextTable {
  /// The rows, or what stands in their place where there are none; below them how to go on, if the answer has a next page.
  ///
  /// - `option`: takes the answer's `next`.
  /// - `width`: how long a line may be; nil for as long as it is.
  func page(of answer: JSON, empty: String, next option: String, within width: Int? = nil) -> String {
    (isEmpty ? empty : render(within: width)) + answer.nextPageText(with: option)
  }
}

extension JSON {
  /// How to get the next page of a listing, behind an empty line; empty if this one is the last.
  func nextPageText(with option: String) -> String {
    guard let next = self["next"], !next.isNull else { return "" }
    let text = next.plainText.printable
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
}
