import RewardModel
import StorageCore
import TreeModel

/// Why a player was paid, or was not: the facts. ``WhyExplanation`` puts them into sentences.
struct WhyReport: Sendable {
  let uid: Key
  /// The state of the tree that was looked at.
  let revision: Revision
  /// What the functions made of what the player did.
  let stories: [FunctionStory]
  /// Functions whose places for the player are spread over the tree, so that no story of theirs can be told.
  let spread: [FunctionDescription]
  /// What moved on the player's accounts, newest first.
  let payments: [Payment]
  /// The sequence to go on before, if there are more.
  let nextPayment: Int64?
  /// Other players whose record names this one, and what the functions made of what they did without paying this one.
  let mentions: [Mention]
  /// Whether the whole tree of players was looked through for them.
  let sawAllMentions: Bool
  /// What functions gave up on that is the player's, and that no story tells.
  var deadLetters: [DeadLetter] = []
  /// Whether all dead letters were looked through for them.
  var sawAllDeadLetters = true
  /// Whether anything says that there is such a player.
  var isKnown = true
  /// The player's erasure, if there was one.
  var erasure: ErasureRecord?

  /// Coins that moved on one of the player's accounts.
  struct Payment: Sendable {
    let entry: LedgerEntry
    /// Whether the player got them; else gave.
    let isReceived: Bool
    /// What happened at the event's path, if it is an event that the log remembers.
    let cause: Happening?
    /// The entry that took it back.
    let reversal: LedgerEntry?
  }

  /// An event that a function gave up on.
  struct DeadLetter: Sendable {
    let record: DeliveryRecord
    /// Whether there still is a function of that name.
    let isRegistered: Bool
  }

  /// Another player whose record names this one.
  struct Mention: Sendable {
    let player: Key
    /// Where it names it: `/users/bob/referred_by`.
    let place: Path
    let stories: [FunctionStory]
  }
}

/// A change at a place, as people tell it.
struct Happening: Sendable {
  let path: Path
  let kind: EventRecord.Kind
  let before: TreeNode
  let after: TreeNode
}

/// What one function made of the changes at one player's place.
struct FunctionStory: Sendable {
  let function: FunctionDescription
  let player: Key
  /// Where it looks: `/users/bob/level`, with what is open in braces.
  let place: String
  /// Why it is paused; nil if it is not.
  let pauseReason: String?
  /// The latest changes there, oldest first.
  let changes: [ChangeStory]
  /// Whether that is all that is remembered.
  let isComplete: Bool
  /// Up to here the log was pruned; zero if it was not.
  let prunedThrough: Revision
  /// Whether what was written there once was erased.
  var isErased = false
}

/// One change, and what became of it.
struct ChangeStory: Sendable {
  let event: EventID
  let happening: Happening
  /// Of the commit, in milliseconds since 1970.
  let time: Int64
  let actor: Actor
  let fate: Fate

  enum Fate: Sendable {
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

    var name: String {
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

    static let names = [
      "paid", "done", "skipped", "waiting", "paused", "dead", "pending", "suppressed", "unwanted", "unheard",
    ]

    var isDead: Bool { if case .dead = self { true } else { false } }
    var isUnwanted: Bool { if case .unwanted = self { true } else { false } }
  }
}
