/// Addresses as the protocol takes them: one `@` with text on both sides, kept in lower case (spec: auth-protocol §2.0).
enum EmailAddress {
  /// The longest address (RFC 5321 §4.5.3.1.3), in bytes.
  static let bytesMax = 254

  static func normalized(_ text: String) throws(AccountError) -> String {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    let isClean = text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, text.utf8.count <= bytesMax, isClean else {
      throw AccountError("INVALID_EMAIL")
    }
    return text.lowercased()
  }
}
