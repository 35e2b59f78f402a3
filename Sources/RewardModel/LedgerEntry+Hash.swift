internal import Crypto

extension LedgerEntry {
  /// The hash of an entry: SHA-256 over the hash of the entry before it and every field.
  ///
  /// - Parameter previousHash: The hash of the namespace's entry before; 32 zero bytes for the first.
  public static func chainHash(
    sequence: Int64, revision: Int64, time: Int64, transfer: LedgerTransfer, debitAfter: Int64, creditAfter: Int64,
    previousHash: [UInt8]
  ) -> [UInt8] {
    var content = HashedContent(capacity: 256)
    content.add(bytes: Array("doubloon.entry.1".utf8))
    content.add(bytes: previousHash)
    for number in [sequence, revision, time, transfer.amount, debitAfter, creditAfter] { content.add(number: number) }
    for text in [transfer.debit.name, transfer.credit.name, transfer.unit, transfer.code, transfer.key.text] {
      content.add(text: text)
    }
    for text in [transfer.event, transfer.function, transfer.subject, transfer.reason] { content.add(optional: text) }
    content.add(optional: transfer.reverses)
    content.add(optional: transfer.expiresAt)
    content.add(number: transfer.allowsNegative ? 1 : 0)
    return SHA256.hash(data: content.bytes).withUnsafeBytes(Array.init)
  }

  /// Makes the entry that follows on `previousHash`, with its hash.
  public init(
    sequence: Int64, revision: Int64, time: Int64, transfer: LedgerTransfer, debitAfter: Int64, creditAfter: Int64,
    previousHash: [UInt8]
  ) {
    let hash = Self.chainHash(
      sequence: sequence, revision: revision, time: time, transfer: transfer, debitAfter: debitAfter,
      creditAfter: creditAfter, previousHash: previousHash)
    self.init(
      sequence: sequence, revision: revision, time: time, transfer: transfer, debitAfter: debitAfter,
      creditAfter: creditAfter, previousHash: previousHash, hash: hash)
  }

  /// Whether the entry is what was written: its hash is that of its fields, and it follows on `previous` (nil before the
  /// first).
  public func verify(after previous: LedgerEntry?) -> Bool {
    let before = previous?.hash ?? [UInt8](repeating: 0, count: 32)
    guard sequence == (previous?.sequence ?? 0) + 1, previousHash == before else { return false }
    let expected = Self.chainHash(
      sequence: sequence, revision: revision, time: time, transfer: transfer, debitAfter: debitAfter,
      creditAfter: creditAfter, previousHash: previousHash)
    return hash == expected
  }
}

/// The bytes that an entry's hash covers: every field with its length, so that no two entries have the same.
private struct HashedContent {
  var bytes: [UInt8] = []

  init(capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  mutating func add(number: Int64) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func add(bytes more: [UInt8]) {
    add(number: Int64(more.count))
    bytes.append(contentsOf: more)
  }

  mutating func add(text: String) {
    add(number: Int64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  mutating func add(optional text: String?) {
    bytes.append(text == nil ? 0 : 1)
    if let text { add(text: text) }
  }

  mutating func add(optional number: Int64?) {
    bytes.append(number == nil ? 0 : 1)
    if let number { add(number: number) }
  }
}
