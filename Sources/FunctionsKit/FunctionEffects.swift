public import TreeModel

/// What a run asks for, as data: committed as one operation together with the record that it ran.
///
/// For the engine; authors meet it only through ``FunctionContext``.
public struct FunctionEffects: Sendable {
  /// A movement of coins between the program and a balance in the tree.
  public struct Posting: Sendable {
    /// Which way the coins go, as the balance sees it.
    public enum Direction: Sendable {
      case credit
      case debit
    }

    /// Whether the balance gets or gives.
    public let direction: Direction
    /// The balance's path; it must be a declared currency's.
    public let path: Path
    /// Above zero, in minor units.
    public let amount: Int64
    /// Why, in one word; names the other side, `issuance:CODE` or `redemption:CODE`.
    public let code: String
    /// The business key; nil stands for `{event}/{function}/{code}`.
    public let key: String?
    /// What becomes of it if the key was used before.
    public let ifPaid: IfPaid
    /// Whom the payment is about, where that is not the one who is paid.
    public let subject: String?
    /// A remark for the statement.
    public let note: String?
    /// Why the coins wait; nil if they are paid at once.
    public let hold: Hold?
    /// The player for whom it is remembered that the reward of this code was paid; nil where that is not asked for.
    public let rewarded: String?
  }

  /// Why a payment waits.
  public struct Hold: Sendable {
    /// For the ledger, in a person's words.
    public let reason: String
    /// The player whose confirmed address ends the wait; nil if a person does.
    public let confirmedBy: String?
  }

  /// The end of a hold.
  public struct Release: Sendable {
    /// The player whose confirmed address ends it.
    public let player: String
    /// The business key of the payment that waits.
    public let key: String
    /// What waits.
    public let reward: WaitingReward
  }

  /// A record beside the tree.
  public struct RecordChange: Sendable {
    /// One of ``RewardRecord``'s.
    public let kind: String
    /// Its name among those of its kind.
    public let key: String
    /// The new value; nil removes it.
    public let value: String?
    /// What the run saw there. If anything else is there by then, the run is repeated.
    public let expected: String?
  }

  /// A message for the outside.
  public struct Message: Sendable {
    /// Which registered outlet delivers it.
    public let outlet: String
    /// What is delivered, as JSON.
    public let payload: TreeNode
    /// Tells it from other messages of the same run: a part of its key.
    public let label: String
  }

  /// Something that happened to a player, for in-app messages.
  public struct PlayerMessage: Sendable {
    /// 1 to 40 of `a-z` and `_`.
    public let name: String
    /// Whom it is told.
    public let player: String
    /// By name.
    public let parameters: [String: Scalar]
    /// Makes it happen once; nil stands for the event and the function.
    public let key: String?
  }

  /// A value that must be unchanged when the effects are committed.
  public struct Assumption: Sendable {
    /// Where the run looked.
    public let path: Path
    /// What it saw there. If anything else is there by then, the run is repeated.
    public let node: TreeNode
    /// Which of the operations rests on it.
    public let operation: Int
  }

  /// Writes to the tree, in the order they were asked for; a later one sees the earlier.
  public internal(set) var operations: [WriteOperation] = []
  /// Payments, in the order they were asked for. They are made after the operations.
  public internal(set) var postings: [Posting] = []
  /// Messages, in the order they were asked for; no two to one outlet have the same label.
  public internal(set) var messages: [Message] = []
  /// Holds that end.
  public internal(set) var releases: [Release] = []
  /// Records that change.
  public internal(set) var records: [RecordChange] = []
  /// What happened to players, for messages that wait for it.
  public internal(set) var playerEvents: [PlayerMessage] = []
  /// What the run's transactions saw.
  public internal(set) var assumptions: [Assumption] = []

  /// Whether nothing was asked for: then only the record of the run is committed. Assumptions alone ask for nothing.
  public var isEmpty: Bool {
    operations.isEmpty && postings.isEmpty && messages.isEmpty && releases.isEmpty && playerEvents.isEmpty
  }

  /// The same without some of the payments.
  public func leavingOut(_ isLeftOut: (Posting) throws -> Bool) rethrows -> FunctionEffects {
    var effects = self
    effects.postings = try postings.filter { try !isLeftOut($0) }
    return effects
  }

  /// The same with other operations: for a late run, whose plain writes must not overwrite newer data.
  public func replacingOperations(_ operations: [WriteOperation]) -> FunctionEffects {
    var effects = self
    effects.operations = operations
    return effects
  }
}

extension FunctionEffects {
  /// The node at a path after the operations so far, if `stored` is there before them: what a transaction of the
  /// same run goes on from.
  ///
  /// - `now`: stands for the time of the commit, which nobody knows yet.
  func node(at root: Path, over stored: TreeNode, now: Int64) -> TreeNode {
    var node = stored
    for operation in operations {
      for assignment in operation.assignments { assignment.apply(to: &node, at: root, now: now) }
    }
    return node
  }
}

extension WriteOperation.Assignment {
  /// Does to the node at a path what the assignment does to the tree.
  fileprivate func apply(to node: inout TreeNode, at root: Path, now: Int64) {
    if path.keys.starts(with: root.keys) {
      let below = Path(keys: Array(path.keys.dropFirst(root.keys.count)))
      let before = node[below]
      switch value {
      case .node(let write):
        let written = write.resolved(now: now) { slot in
          slot.isPriority ? before[slot.path].priority : before[slot.path].scalar
        }
        node = node.setting(below, to: written)
      case .priority(let value):
        let priority: Scalar? =
          switch value {
          case .scalar(let scalar): scalar
          case .server(let value): value.resolved(now: now, current: before.priority)
          }
        node = node.settingPriority(below, to: priority) ?? node
      }
    } else if root.keys.starts(with: path.keys), case .node(let write) = value {
      let below = Path(keys: Array(root.keys.dropFirst(path.keys.count)))
      let before = node
      let written = write.resolved(now: now) { slot -> Scalar? in
        // What lies beside the path is not looked at.
        guard slot.path.keys.starts(with: below.keys) else { return nil }
        let its = before[Path(keys: Array(slot.path.keys.dropFirst(below.keys.count)))]
        return slot.isPriority ? its.priority : its.scalar
      }
      node = written[below]
    }
  }
}
