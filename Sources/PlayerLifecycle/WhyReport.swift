package import RewardModel
package import StorageCore
package import TreeModel

/// Why a player was paid, or was not: the facts. ``WhyExplanation`` puts them into sentences.
package struct WhyReport: Sendable {
  package let uid: Key
  /// The state of the tree that was looked at.
  package let revision: Revision
  /// What the functions made of what the player did.
  package let stories: [FunctionStory]
  /// Functions whose paths for the player are spread over the tree, so that no story of theirs can be told.
  package let spread: [FunctionDescription]
  /// What moved on the player's accounts, newest first.
  package let payments: [Payment]
  /// The sequence to go on before, if there are more.
  package let nextPayment: Int64?
  /// Other players whose record names this one, and what the functions made of what they did without paying this one.
  package let mentions: [Mention]
  /// Whether the whole tree of players was looked through for them.
  package let sawAllMentions: Bool
  /// What functions gave up on that is the player's, and that no story tells.
  package var deadLetters: [DeadLetter] = []
  /// Whether all dead letters were looked through for them.
  package var sawAllDeadLetters = true
  /// Whether anything says that there is such a player.
  package var isKnown = true
  /// The player's erasure, if there was one.
  package var erasure: ErasureRecord?

  /// Coins that moved on one of the player's accounts.
  package struct Payment: Sendable {
    package let entry: LedgerEntry
    /// Whether the player got them; else gave.
    package let isReceived: Bool
    /// What happened at the event's path, if it is an event that the log remembers.
    package let cause: Happening?
    /// The entry that took it back.
    package let reversal: LedgerEntry?
  }

  /// An event that a function gave up on.
  package struct DeadLetter: Sendable {
    package let record: DeliveryRecord
    /// Whether there still is a function of that name.
    package let isRegistered: Bool
  }

  /// Another player whose record names this one.
  package struct Mention: Sendable {
    package let player: Key
    /// The leaf that names it: `/users/bob/referred_by`.
    package let path: Path
    package let stories: [FunctionStory]
  }
}

/// A change at a path, as people tell it.
package struct Happening: Sendable {
  package let path: Path
  package let kind: EventRecord.Kind
  package let before: TreeNode
  package let after: TreeNode
}

/// What one function made of the changes at one player's path.
package struct FunctionStory: Sendable {
  package let function: FunctionDescription
  package let player: Key
  /// Where it looks: `/users/bob/level`, with what is open in braces.
  package let path: String
  /// Why it is paused; nil if it is not.
  package let pauseReason: String?
  /// The latest changes there, oldest first.
  package let changes: [ChangeStory]
  /// Whether that is all that is remembered.
  package let isComplete: Bool
  /// Up to here the log was pruned; zero if it was not.
  package let prunedThrough: Revision
  /// Whether what was written there once was erased.
  package var isErased = false
}

/// One change, and what became of it.
package struct ChangeStory: Sendable {
  package let event: EventID
  package let happening: Happening
  /// Of the commit, in milliseconds since 1970.
  package let time: Int64
  package let actor: Actor
  package let fate: Fate

  package enum Fate: Sendable {
    /// It moved coins.
    case paid([LedgerEntry], attempt: Int)
    /// It was handled, and moved none.
    case done
    /// - Parameter amount: the setting of that name, if the function had it.
    case skipped(reason: String, amount: Int64?)
    case waiting(until: Int64, attempts: Int, error: String)
    case paused(reason: String)
    case dead(attempts: Int, error: String)
    /// It was not looked at yet.
    case pending
    /// It was written with triggers suppressed.
    case suppressed
    /// It is not what the function runs on.
    case unwanted
    /// The function would want it, but was not there, or was another, when it happened.
    case unheard

    package var name: String {
      switch self {
      case .paid: "paid"
      case .done: "done"
      case .skipped: "skipped"
      case .waiting: "waiting"
      case .paused: "paused"
      case .dead: "dead"
      case .pending: "pending"
      case .suppressed: "suppressed"
      case .unwanted: "unwanted"
      case .unheard: "unheard"
      }
    }

    package static let names = [
      "paid", "done", "skipped", "waiting", "paused", "dead", "pending", "suppressed", "unwanted", "unheard",
    ]

    package var isDead: Bool { if case .dead = self { true } else { false } }
    package var isUnwanted: Bool { if case .unwanted = self { true } else { false } }
  }
}
