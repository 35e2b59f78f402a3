import TreeModel

/// Ledger entries as text.
enum LedgerText {
  /// A table of entries.
  static func entries(_ entries: [JSON]) -> TextTable {
    var table = TextTable([
      .number("ENTRY"), .text("TIME"), .text("CODE"), .text("FROM"), .text("TO"), .number("AMOUNT"), .text("UNIT"),
      .text("CAUSE"),
    ])
    for entry in entries {
      table.add([
        sequence(entry), entry["time"]?.timeText ?? "-", entry["code"]?.string ?? "-", entry["debit"]?.string ?? "-",
        entry["credit"]?.string ?? "-", entry["amount"]?.int?.grouped ?? "-", entry["unit"]?.string ?? "-", cause(entry),
      ])
    }
    return table
  }

  /// One entry in a sentence.
  static func sentence(_ entry: JSON) -> String {
    let amount = "\(entry["amount"]?.int?.grouped ?? "?") \(entry["unit"]?.string ?? "")"
    return "Entry \(sequence(entry)): \(amount) from \(entry["debit"]?.string ?? "?") to \(entry["credit"]?.string ?? "?")"
      + " (\(entry["code"]?.string ?? "-"), key \(entry["key"]?.string ?? "-"))."
  }

  static func sequence(_ entry: JSON) -> String { entry["sequence"]?.plainText ?? "?" }

  /// Why the entry exists: what a person wrote, or the event and function.
  static func cause(_ entry: JSON) -> String {
    var parts: [String] = []
    if let function = entry["function"]?.string { parts.append(function) }
    if let event = entry["event"]?.string { parts.append(event) }
    if let reverses = entry["reverses"]?.int { parts.append("reverses \(reverses)") }
    if let reason = entry["reason"]?.string { parts.append(reason) }
    if let referral = entry["referral"], let link = referral["link"]?.string {
      parts.append("invited by \(referral["inviter"]?.string ?? "?"), \(referral["how"]?.string ?? "?") of \(link)")
    }
    return parts.joined(separator: ", ")
  }
}
