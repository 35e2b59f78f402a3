import AdminClient
import ArgumentParser
import TreeModel

/// What all writes of `doubloon data` share.
struct DataWriteOptions: ParsableArguments {
  @Flag(inversion: .prefixedNo, help: "Whether functions see the change.")
  var triggers = true

  @OptionGroup
  var output: OutputOptions

  /// The parameters of the request.
  var query: [QueryItem] { triggers ? [] : [QueryItem("disableTriggers", "true")] }

  /// Says that it is done.
  func report(_ answer: JSON, _ sentence: String) {
    output.print(answer) { _ in sentence }
  }
}
