import ArgumentParser
import TreeModel

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
