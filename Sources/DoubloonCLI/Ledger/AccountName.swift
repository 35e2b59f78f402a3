import ArgumentParser

/// A ledger account as a command's argument: `user:bob`, or `bob` for short.
struct AccountName: ExpressibleByArgument, Sendable, Hashable {
  /// Kinds that stand before the colon on every server; the holders of its own currencies are more.
  private static let kinds: Set<String> = ["user", "issuance", "redemption", "hold", "merge"]

  let text: String

  init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    // These two have no owner, and so no colon.
    let isWhole = argument.utf8.contains(UInt8(ascii: ":")) || argument == "adjustment" || argument == "opening"
    text = isWhole ? argument : "user:\(argument)"
  }

  /// What to write instead of a name that may be meant as a player's id, which may have a colon too; nil if it is clear.
  var doubt: String? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let kind = String(text[..<colon])
    guard !Self.kinds.contains(kind) else { return nil }
    return
      "\(text) is a player's id, or an account of the kind \(kind). For the player write user:\(text); for the account add --any-kind."
  }
}
