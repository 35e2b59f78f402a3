internal import Crypto
internal import TextFormats
import TreeModel

/// The rewards that were paid for a player, or for who had an identity: as a record's value.
public struct PaidRewards: Sendable, Hashable {
  /// Records by player, while the account is there.
  public static let playerKind = "reward-paid"
  /// Records by the keyed hash of an identity, after the account went or gave the identity up.
  public static let identityKind = "reward-identity"
  /// Players of one reward that are told apart: of two others one is always someone else.
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
  /// - `player`: the keyed hash; nil in the player's own record.
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

/// Keyed hashes of what tells persons and client networks apart: to know again whom nobody may read here any more.
///
/// The key is a secret of the server's, kept beside its signing keys: without it nobody can find out by trying whose hash it
/// is.
public struct IdentityHash: Sendable {
  /// How long a secret is, in bytes.
  public static let keyBytes = 32

  private let key: SymmetricKey

  /// - Parameter key: the secret.
  public init(key: [UInt8]) {
    self.key = SymmetricKey(data: key)
  }

  /// The identities of an account: its address as mail is delivered (in lower case, without a tag, of Gmail without dots), its
  /// number, and who it is at each provider.
  public func hashes(of account: AccountRecord) -> [String] {
    var identities: [String] = []
    for address in [account.email, account.initialEmail].compactMap(\.self) {
      identities.append("email/\(EmailAddress(address)?.deliveryIdentity ?? address)")
    }
    if let number = account.phoneNumber { identities.append("phone/\(number)") }
    identities += account.providers.map { "\($0.id)/\($0.rawID)" }
    // Players of two tenants are two, whatever address they share.
    if let tenant = account.tenant { identities = identities.map { "tenant/\(tenant)/\($0)" } }
    return Set(identities).map(hash).sorted()
  }

  /// A client's network, as limits tell clients apart.
  public func network(_ address: String) -> String { String(hash("network/\(address)").prefix(24)) }

  /// A player, where it must be told whether one is the same as another.
  public func player(_ uid: String) -> String { String(hash("player/\(uid)").prefix(24)) }

  private func hash(_ text: String) -> String {
    let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
    return Hex.encode(code)
  }
}
