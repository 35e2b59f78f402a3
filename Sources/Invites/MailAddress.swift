/// Addresses that mails are sent to.
enum MailAddress {
  /// The address in the form in which it is compared: without blanks around it, in lower case.
  ///
  /// - Returns: nil unless it is one plain address: no names, no lists, no line breaks, nothing quoted.
  static func normal(_ text: String) -> String? {
    let address = text.lowercased()
    guard address.utf8.count <= 254, let at = address.lastIndex(of: "@") else { return nil }
    let (local, host) = (address[..<at], address[address.index(after: at)...])
    let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789.!#$%&'*+/=?^_{|}~-".utf8)
    guard (1...64).contains(local.utf8.count), local.utf8.allSatisfy(allowed.contains), local.first != ".", local.last != ".",
      !local.contains("..")
    else { return nil }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    guard labels.count >= 2,
      labels.allSatisfy({ label in
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
          && label.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
      })
    else { return nil }
    return address
  }
}
