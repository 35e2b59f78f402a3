/// What makes a transfer the same transfer, in the words of the business: `level5/bob`.
///
/// Unique in its namespace, for ever (spec: triggers-ledger §4, L4). Two keys are the same only if their bytes are.
public struct BusinessKey: Sendable, CustomStringConvertible {
  /// The key as text.
  public let text: String

  /// A key's largest size, in UTF-8 bytes.
  public static let bytesMax = 1024

  /// A key. Whether the ledger takes it is judged when the transfer is.
  public init(_ text: String) {
    self.text = text
  }

  /// The key of the entry that takes the entry `sequence` back.
  public static func reversal(of sequence: Int64) -> BusinessKey { BusinessKey("reversal/\(sequence)") }

  /// The key of the entry that ends the hold made by the entry `sequence`: it is used once, so a hold ends once.
  public static func holdEnd(of sequence: Int64) -> BusinessKey { BusinessKey("hold-end/\(sequence)") }

  /// The key of what a release leaves over and gives back; only used beside ``holdEnd(of:)``.
  public static func holdRest(of sequence: Int64) -> BusinessKey { BusinessKey("hold-end/\(sequence)/rest") }

  /// The key as text.
  public var description: String { text }
}

extension BusinessKey: Hashable {
  /// Equality by bytes.
  public static func == (a: BusinessKey, b: BusinessKey) -> Bool { a.text.hasSameBytes(as: b.text) }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}
