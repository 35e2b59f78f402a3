/// Numbers as the protocol takes them: a plus, then digits.
enum PhoneNumber {
  static func checked(_ text: String) throws(AccountError) -> String {
    guard text.utf8.first == UInt8(ascii: "+"), (3...30).contains(text.utf8.count),
      text.utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
    else { throw AccountError("INVALID_PHONE_NUMBER", "Invalid format.") }
    return text
  }
}
