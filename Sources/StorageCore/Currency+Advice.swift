extension Currency {
  /// What the author of a function can do who pays to a place, or in a unit, that is none of these: how a currency is
  /// declared, and where balances are so far.
  public static func advice(beside declared: [Currency]) -> String {
    let way =
      "Declare the currency beside the functions, functions.currency(\"gems\", at: place), or under \"currencies\" in the "
      + "configuration"
    guard !declared.isEmpty else { return "No currency is declared. \(way)." }
    let known = declared.map { "\($0.unit) at \($0.pattern)" }.joined(separator: ", ")
    return "\(way); there is \(known)."
  }
}
