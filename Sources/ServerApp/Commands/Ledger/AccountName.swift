import ArgumentParser

/// A ledger account as a command's argument: `user:bob`, or `bob` for short.
struct AccountName: ExpressibleByArgument, Sendable, Hashable {
  let text: String

  init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    // These two have no owner, and so no colon.
    let isWhole = argument.utf8.contains(UInt8(ascii: ":")) || argument == "adjustment" || argument == "opening"
    text = isWhole ? argument : "user:\(argument)"
  }
}
