import TreeModel

extension EmailAddress {
  /// The text by which accounts are found: the address in lower case.
  ///
  /// - Throws: `INVALID_EMAIL` for what is no plain address.
  static func normalized(_ text: String) throws(AccountError) -> String {
    guard let address = EmailAddress(text) else { throw AccountError("INVALID_EMAIL") }
    return address.text
  }

  /// The key under which limits count an address of an account; one that was stored before addresses were checked this
  /// strictly counts as it is.
  static func limitKey(_ stored: String) -> String { EmailAddress(stored)?.deliveryIdentity ?? stored }
}
