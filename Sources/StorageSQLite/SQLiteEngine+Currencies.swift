public import StorageCore

extension SQLiteEngine {
  /// The currencies that the last server declared, in the words in which it did; nil in a store that no server had yet.
  public func declaredCurrencies() throws(StorageError) -> String? {
    try writer.metaText(.currencies)
  }

  /// Notes which currencies the ledger knows from now on. Before the write session is made: the session owns the connection.
  public func declareCurrencies(_ text: String) throws(StorageError) {
    precondition(!hasSession, "Currencies are declared before anything is written.")
    guard try writer.metaText(.currencies) != text else { return }
    try writer.inTransaction { () throws(StorageError) in try writer.setMeta(.currencies, to: text) }
  }
}
