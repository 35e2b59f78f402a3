import TreeModel

/// The rewards that were paid for a player, or for a person who left: as a record's value.
public struct PaidRewards: Sendable, Hashable {
  /// Records by player, while the account is there.
  public static let playerKind = "reward-paid"
  /// Records by the keyed hash of an identity, after the account went or gave the identity up.
  public static let identityKind = "reward-identity"

  /// The codes of the rewards.
  public var codes: Set<String>
  /// Until when it is remembered, in milliseconds since 1970; nil while the account is there.
  public var until: Int64?

  public init(codes: Set<String>, until: Int64? = nil) {
    self.codes = codes
    self.until = until
  }

  /// With further codes, remembered for as long as the one or the other says.
  public func adding(_ more: Set<String>, until time: Int64?) -> PaidRewards {
    PaidRewards(codes: codes.union(more), until: time.map { max($0, until ?? $0) })
  }

  /// Reads what ``text`` wrote; what cannot be read is nothing.
  public init(stored text: String) {
    let json = (try? JSONParser.parse(text)) ?? .null
    codes = Set((json["codes"]?.array ?? []).compactMap(\.string))
    until = json["until"]?.int
  }

  /// The record's value.
  public var text: String {
    let sorted = codes.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    var writer = JSONWriter()
    writer.write(JSON(fields: [("codes", .array(sorted.map(JSON.string))), ("until", until.map(JSON.int))]))
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
