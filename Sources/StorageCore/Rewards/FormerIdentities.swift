import TreeModel

/// Whom an account was that is gone, as keyed hashes: a reward for what its player did may be committed after the account went.
public struct FormerIdentities: Sendable, Hashable {
  /// Records by player, after the account went.
  public static let kind = "reward-former"
  /// How long a reward may come late, in milliseconds.
  public static let lifetimeMax: Int64 = 30 * 86_400_000

  /// The identities (``IdentityHash/hashes(of:)``).
  public let hashes: [String]
  /// Until when the record is kept, in milliseconds since 1970.
  public let until: Int64
  /// Until when it is to be remembered that a reward was paid for one of the identities.
  public let paidUntil: Int64

  /// - Parameters:
  ///   - hashes: the identities.
  ///   - time: when the account went.
  ///   - lifetime: how long identities that were paid are remembered.
  public init(_ hashes: [String], at time: Int64, lifetime: Int64) {
    self.hashes = hashes
    until = time + min(lifetime, Self.lifetimeMax)
    paidUntil = time + lifetime
  }

  /// Reads what ``text`` wrote; nil for what cannot be read.
  public init?(stored text: String) {
    guard let json = try? JSONParser.parse(text), let list = json["hashes"]?.array, let until = json["until"]?.int,
      let paidUntil = json["paidUntil"]?.int
    else { return nil }
    hashes = list.compactMap(\.string)
    self.until = until
    self.paidUntil = paidUntil
  }

  /// The record's value.
  public var text: String {
    var writer = JSONWriter()
    writer.write(
      JSON(fields: [
        ("hashes", .array(hashes.map(JSON.string))), ("until", .int(until)), ("paidUntil", .int(paidUntil)),
      ]))
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
