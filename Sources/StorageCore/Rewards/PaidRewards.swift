import TreeModel

/// The rewards that were paid for a player, or for who had an identity: as a record's value.
public struct PaidRewards: Sendable, Hashable {
  /// Records by player, while the account is there.
  public static let playerKind = "reward-paid"
  /// Records by the keyed hash of an identity, after the account went or gave the identity up.
  public static let identityKind = "reward-identity"
  /// Players of one reward that are told apart: of two others one is always somebody else.
  private static let playersMax = 2

  /// By the rewards' codes the keyed hashes of the players (``IdentityHash/player(_:)``) who were paid; of a player's own record,
  /// and where it is not known, none.
  public private(set) var players: [String: Set<String>] = [:]
  /// Until when it is remembered, in milliseconds since 1970; nil while the account is there.
  public private(set) var until: Int64?

  /// Nothing was paid.
  public init() {}

  /// The codes of the rewards.
  public var codes: Set<String> { Set(players.keys) }

  /// Whether a reward was paid to anybody but this player, given by the keyed hash, and is still remembered.
  public func isPaid(_ code: String, beside player: String, at now: Int64) -> Bool {
    guard let known = players[code], (until ?? .max) > now else { return false }
    return known.isEmpty || known.contains { $0 != player }
  }

  /// With further rewards of a player, remembered for as long as the one or the other says.
  ///
  /// - Parameter player: the keyed hash; nil in the player's own record.
  public func adding(_ codes: Set<String>, of player: String?, until time: Int64?) -> PaidRewards {
    var sum = self
    for code in codes {
      // Where one is not known it may be anybody.
      guard let player, players[code]?.isEmpty != true else {
        sum.players[code] = []
        continue
      }
      sum.players[code] = Set((players[code] ?? []).union([player]).sorted().prefix(Self.playersMax))
    }
    sum.until = time.map { max($0, until ?? $0) }
    return sum
  }

  /// Reads what ``text`` wrote; what cannot be read is nothing.
  public init(stored text: String) {
    let json = (try? JSONParser.parse(text)) ?? .null
    // Earlier versions wrote a list of codes.
    for code in (json["codes"]?.array ?? []).compactMap(\.string) { players[code] = [] }
    for member in json["codes"]?.object ?? [] { players[member.key] = Set((member.value.array ?? []).compactMap(\.string)) }
    until = json["until"]?.int
  }

  /// The record's value.
  public var text: String {
    let members = players.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { code, players in
      JSON.Member(key: code, value: .array(players.sorted().map(JSON.string)))
    }
    var writer = JSONWriter()
    writer.write(JSON(fields: [("codes", .object(members)), ("until", until.map(JSON.int))]))
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
