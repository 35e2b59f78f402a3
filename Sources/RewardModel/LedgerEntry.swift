internal import Crypto

/// A request to the ledger: move an amount of one unit from one account to another, once.
public struct LedgerTransfer: Sendable, Hashable {
  /// The account that gives.
  public let debit: LedgerAccount
  /// The account that gets.
  public let credit: LedgerAccount
  /// Always above zero, in minor units.
  public let amount: Int64
  /// The currency, such as `pieces_of_eight`.
  public let unit: String
  /// Why, in one word of the program: `signup`, `level5`, `adjustment`, `reversal`.
  public let code: String
  /// Unique in the namespace for ever: a second transfer under the same key is not made.
  public let key: BusinessKey
  /// The event that caused it, as text; nil for a person's or a game server's transfer.
  public let event: String?
  /// The function that caused it.
  public let function: String?
  /// Whom it is about, where that is not one of the two accounts: the referred player of a referrer's reward.
  public let subject: String?
  /// The sequence of the entry that this one takes back.
  public let reverses: Int64?
  /// A person's words.
  public let reason: String?
  /// Whether the debited account may go below zero although it is a player's.
  public let allowsNegative: Bool
  /// When a hold that this transfer makes lapses, in milliseconds since 1970; nil for everything else.
  public let expiresAt: Int64?

  /// A transfer. It is judged when it is committed.
  public init(
    debit: LedgerAccount, credit: LedgerAccount, amount: Int64, unit: String, code: String, key: BusinessKey,
    event: String? = nil, function: String? = nil, subject: String? = nil, reverses: Int64? = nil, reason: String? = nil,
    allowsNegative: Bool = false, expiresAt: Int64? = nil
  ) {
    self.debit = debit
    self.credit = credit
    self.amount = amount
    self.unit = unit
    self.code = code
    self.key = key
    self.event = event
    self.function = function
    self.subject = subject
    self.reverses = reverses
    self.reason = reason
    self.allowsNegative = allowsNegative
    self.expiresAt = expiresAt
  }
}

extension LedgerTransfer {
  /// Whether `other` asks for the same: what a repetition under the same key must do to be answered with the first entry
  ///.
  ///
  /// ``allowsNegative`` is left out: it is a permission for the moment of posting, not a part of what is asked.
  public func hasSameBody(as other: LedgerTransfer) -> Bool {
    debit == other.debit && credit == other.credit && amount == other.amount && reverses == other.reverses
      && expiresAt == other.expiresAt && unit.hasSameBytes(as: other.unit) && code.hasSameBytes(as: other.code)
      && same(event, other.event) && same(function, other.function) && same(subject, other.subject)
      && same(reason, other.reason)
  }

  private func same(_ a: String?, _ b: String?) -> Bool {
    switch (a, b) {
    case (let a?, let b?): a.hasSameBytes(as: b)
    case (nil, nil): true
    default: false
    }
  }
}

/// One line of the ledger: an amount from one account to another. Never changed, never removed.
///
/// `hash` covers every field and the hash of the entry before it in the same namespace, so that a changed, missing or
/// exchanged line breaks the chain where it is.
public struct LedgerEntry: Sendable, Hashable {
  /// 1, 2, 3 … within the namespace.
  public let sequence: Int64
  /// The tree's revision that the entry was committed with.
  public let revision: Int64
  /// Milliseconds since 1970.
  public let time: Int64
  /// What was asked for.
  public let transfer: LedgerTransfer
  /// The balance of the account that gave, after the entry.
  public let debitAfter: Int64
  /// The balance of the account that got, after the entry.
  public let creditAfter: Int64
  /// The hash of the namespace's entry before; 32 zero bytes for the first.
  public let previousHash: [UInt8]
  /// The hash of this entry.
  public let hash: [UInt8]

  /// An entry as it is stored. New ones are made by the initializer without `hash`.
  public init(
    sequence: Int64, revision: Int64, time: Int64, transfer: LedgerTransfer, debitAfter: Int64, creditAfter: Int64,
    previousHash: [UInt8], hash: [UInt8]
  ) {
    self.sequence = sequence
    self.revision = revision
    self.time = time
    self.transfer = transfer
    self.debitAfter = debitAfter
    self.creditAfter = creditAfter
    self.previousHash = previousHash
    self.hash = hash
  }
}

extension LedgerEntry {
  /// What the entry did to an account's balance: below zero for the debited side, 0 for an account that is not in it.
  public func change(of account: LedgerAccount) -> Int64 {
    if transfer.credit == account { return transfer.amount }
    return transfer.debit == account ? -transfer.amount : 0
  }

  /// The account's balance after the entry; nil for an account that is not in it.
  public func balance(of account: LedgerAccount) -> Int64? {
    if transfer.credit == account { return creditAfter }
    return transfer.debit == account ? debitAfter : nil
  }
}

extension LedgerEntry {
  /// The hash of an entry: SHA-256 over the hash of the entry before it and every field.
  ///
  /// - `previousHash`: The hash of the namespace's entry before; 32 zero bytes for the first.
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

extension String {
  /// Whether two texts are the same bytes.
  ///
  /// Swift's `==` merges `é` typed as one code point and as `e` with an accent. The tree, SQLite and the clients keep them
  /// apart, so names and keys of the ledger must too: two players would share one account otherwise.
  func hasSameBytes(as other: String) -> Bool {
    var a = self
    var b = other
    return a.withUTF8 { x in b.withUTF8 { y in x.count == y.count && x.elementsEqual(y) } }
  }

  /// Feeds the bytes that ``hasSameBytes(as:)`` compares.
  func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
