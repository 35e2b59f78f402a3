import TreeModel

extension AdminAccounts {
  /// How far an erasure is.
  package enum ErasureState: String, AdminWord, Hashable {
    case removing
    case forgetting
    case sealed
    case done
  }

  /// A player who left.
  package struct Erasure: AdminValue {
    package var uid: String
    package var state: ErasureState
    /// What was the player's, and everything below.
    package var paths: [String]
    package var by: String
    package var reason: String
    package var orderedAt: Timestamp
    /// The commit up to which the past of the places is forgotten.
    package var order: Int64?
    package var finishedAt: Timestamp?
    /// Whose changes were erased, as far as they were the player's.
    package var commits: Int64

    private enum CodingKeys: String, CodingKey {
      case uid
      case state
      case paths = "places"
      case by
      case reason
      case orderedAt
      case order
      case finishedAt
      case commits
    }

    package init(
      uid: String, state: ErasureState, paths: [String], by: String, reason: String, orderedAt: Timestamp, order: Int64? = nil,
      finishedAt: Timestamp? = nil, commits: Int64
    ) {
      self.uid = uid
      self.state = state
      self.paths = paths
      self.by = by
      self.reason = reason
      self.orderedAt = orderedAt
      self.order = order
      self.finishedAt = finishedAt
      self.commits = commits
    }

    package static let notes: [String: FieldNote] = [
      "places": .text("what was the player's, and everything below"),
      "order": .text("the commit up to which the past of the places is forgotten"),
      "commits": .text("whose changes were erased, as far as they were the player's"),
    ]
  }

  /// A player to erase.
  package struct ErasureOrder: AdminValue {
    /// Why, for the record.
    package var reason: String
    /// More places of the player's, as patterns with one capture: /leaderboard/{uid}.
    package var paths: [String]?
    /// False: functions do not hear of the removal.
    package var triggers: Bool?

    package init(reason: String, paths: [String]? = nil, triggers: Bool? = nil) {
      self.reason = reason
      self.paths = paths
      self.triggers = triggers
    }

    package static let notes: [String: FieldNote] = [
      "reason": .only(.filled, text: "why, for the record"),
      "paths": .only(.list(.filled), text: "more places of the player's, as patterns with one capture: /leaderboard/{uid}"),
      "triggers": .text("false: functions do not hear of the removal"),
    ]
  }

  /// A player whose erasure is looked at.
  package struct ErasurePreviewOrder: AdminValue {
    /// More places of the player's, as patterns with one capture: /leaderboard/{uid}.
    package var paths: [String]?

    package init(paths: [String]? = nil) {
      self.paths = paths
    }

    package static let notes: [String: FieldNote] = [
      "paths": .only(.list(.filled), text: "more places of the player's, as patterns with one capture: /leaderboard/{uid}")
    ]
  }

  /// How much there is at a path.
  package struct PathSize: AdminValue {
    package var path: String
    package var leaves: Int64

    package init(path: String, leaves: Int64) {
      self.path = path
      self.leaves = leaves
    }
  }

  /// What an account has of a currency.
  package struct Held: AdminValue {
    package var unit: String
    package var balance: Int64

    package init(unit: String, balance: Int64) {
      self.unit = unit
      self.balance = balance
    }

    package static let notes: [String: FieldNote] = [
      "balance": .only(.int64)
    ]
  }

  /// What an erasure would take.
  package struct ErasurePlan: AdminValue {
    /// Coins that wait, and go back to where they came from.
    package var holds: [AdminLedger.Entry]
    /// Keyed hashes of identities that stay, so that who was paid is not paid again.
    package var rememberedIdentities: Int64
    package var uid: String
    /// Whether there is one.
    package var account: Bool
    package var paths: [PathSize]
    /// Whose changes would be erased, as far as they are the player's.
    package var commits: Int64
    /// Of links and invitations.
    package var rows: Int64
    /// What the ledger takes back when the record goes.
    package var balances: [Held]
    /// What has to be done before.
    package var waiting: [String]
    /// The last one of this player.
    package var erasure: Erasure?

    private enum CodingKeys: String, CodingKey {
      case holds
      case rememberedIdentities
      case uid
      case account
      case paths = "places"
      case commits
      case rows
      case balances
      case waiting
      case erasure
    }

    package init(
      holds: [AdminLedger.Entry], rememberedIdentities: Int64, uid: String, account: Bool, paths: [PathSize], commits: Int64,
      rows: Int64, balances: [Held], waiting: [String], erasure: Erasure? = nil
    ) {
      self.holds = holds
      self.rememberedIdentities = rememberedIdentities
      self.uid = uid
      self.account = account
      self.paths = paths
      self.commits = commits
      self.rows = rows
      self.balances = balances
      self.waiting = waiting
      self.erasure = erasure
    }

    package static let notes: [String: FieldNote] = [
      "holds": .text("coins that wait, and go back to where they came from"),
      "rememberedIdentities": .text("keyed hashes of identities that stay, so that who was paid is not paid again"),
      "account": .text("whether there is one"),
      "commits": .text("whose changes would be erased, as far as they are the player's"),
      "rows": .text("of links and invitations"),
      "balances": .text("what the ledger takes back when the record goes"),
      "waiting": .text("what has to be done before"),
      "erasure": .text("the last one of this player"),
    ]
  }

  /// Which erasures are wanted.
  package struct ErasureQuery: AdminValue {
    package var limit: Int64?
    package var cursor: String?

    package init(limit: Int64? = nil, cursor: String? = nil) {
      self.limit = limit
      self.cursor = cursor
    }

    package static let notes: [String: FieldNote] = [
      "limit": .limit(50),
      "cursor": .cursor,
    ]
  }

  /// The players who were erased, by uid.
  package struct ErasureList: AdminValue {
    package var erasures: [Erasure]
    /// The next page's cursor.
    package var next: String?

    package init(erasures: [Erasure], next: String? = nil) {
      self.erasures = erasures
      self.next = next
    }

    package static let notes: [String: FieldNote] = [
      "next": .text("the next page's cursor")
    ]
  }

  /// Coins that go along.
  package struct Moved: AdminValue {
    package var unit: String
    package var amount: Int64

    package init(unit: String, amount: Int64) {
      self.unit = unit
      self.amount = amount
    }

    package static let notes: [String: FieldNote] = [
      "amount": .only(.int64)
    ]
  }

  /// Two accounts of one player.
  package struct MergePreviewOrder: AdminValue {
    /// The account that the player goes on with: its uid, or its e-mail address.
    package var into: String
    /// Whether the coins go along.
    package var balances: Bool?
    /// Whether what the other record does not have is copied.
    package var record: Bool?

    package init(into: String, balances: Bool? = nil, record: Bool? = nil) {
      self.into = into
      self.balances = balances
      self.record = record
    }

    package static let notes: [String: FieldNote] = [
      "into": .only(.filled, text: "the account that the player goes on with: its uid, or its e-mail address"),
      "balances": .text("whether the coins go along"),
      "record": .text("whether what the other record does not have is copied"),
    ]
  }

  /// Two accounts of one player, and why they become one.
  package struct MergeOrder: AdminValue {
    /// The account that the player goes on with: its uid, or its e-mail address.
    package var into: String
    /// Whether the coins go along.
    package var balances: Bool?
    /// Whether what the other record does not have is copied.
    package var record: Bool?
    /// Why, for the record.
    package var reason: String

    package init(into: String, balances: Bool? = nil, record: Bool? = nil, reason: String) {
      self.into = into
      self.balances = balances
      self.record = record
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "into": .only(.filled, text: "the account that the player goes on with: its uid, or its e-mail address"),
      "balances": .text("whether the coins go along"),
      "record": .text("whether what the other record does not have is copied"),
      "reason": .only(.filled, text: "why, for the record"),
    ]
  }

  /// What was moved from one account to another, or would be.
  package struct Merge: AdminValue {
    package var from: String
    package var into: String
    /// Who invited the player; moved.
    package var referrer: String?
    /// Moved.
    package var balances: [Moved]
    /// Places of the other record.
    package var copied: [String]
    /// Where a reward waits now that waited for the referrer; moved.
    package var held: String?
    /// Business keys of rewards that were paid for the one and are not paid for the other.
    package var spent: [String]
    package var movesBalances: Bool
    package var copiesRecord: Bool
    package var by: String
    package var reason: String
    /// When it was done.
    package var at: Timestamp?
    /// In a preview: what has to be done before.
    package var waiting: [String]?

    package init(
      from: String, into: String, referrer: String? = nil, balances: [Moved], copied: [String], held: String? = nil,
      spent: [String], movesBalances: Bool, copiesRecord: Bool, by: String, reason: String, at: Timestamp? = nil,
      waiting: [String]? = nil
    ) {
      self.from = from
      self.into = into
      self.referrer = referrer
      self.balances = balances
      self.copied = copied
      self.held = held
      self.spent = spent
      self.movesBalances = movesBalances
      self.copiesRecord = copiesRecord
      self.by = by
      self.reason = reason
      self.at = at
      self.waiting = waiting
    }

    package static let notes: [String: FieldNote] = [
      "referrer": .text("who invited the player; moved"),
      "balances": .text("moved"),
      "copied": .text("places of the other record"),
      "held": .text("where a reward waits now that waited for the referrer; moved"),
      "spent": .text("business keys of rewards that were paid for the one and are not paid for the other"),
      "at": .text("when it was done"),
      "waiting": .text("in a preview: what has to be done before"),
    ]
  }
}
