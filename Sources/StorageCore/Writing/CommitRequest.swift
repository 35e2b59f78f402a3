public import RewardModel
import Synchronization
public import TreeModel

/// One operation of the write pipeline: everything in it is committed together, or nothing is.
///
/// A client's write has one tree operation. The effect of a function has several, with transfers, outbox rows and the
/// record that it ran: it takes the same way, and is checked, matched, committed and shown like any other.
public struct CommitRequest: Sendable {
  /// The namespace whose tree and ledger it changes; a request never changes two.
  public var namespace: NamespaceID
  /// The caller. The commit records it; the surface has checked by then whether the actor may.
  public var actor: Actor
  /// Applied in order; a later one sees the earlier.
  public var operations: [WriteOperation]
  /// What security rules evaluate it with.
  public var access = Access()
  /// What must still be true when it is applied.
  public var preconditions = Preconditions()
  /// What is decided about accounts, on the writer; nil for requests that are not about any.
  public var decision: (any WriterDecision)?
  /// What it adds to the ledger.
  public var ledger = Ledger()
  /// What it says of functions and their events.
  public var triggers = Triggers()
  /// Rows beside the tree and the ledger.
  public var rows = Rows()
  /// What the logs say of it.
  public var log = Log()
  /// Makes a repetition of the request harmless; nil where every request counts.
  public var idempotency: Idempotency?

  /// A request with tree operations alone.
  public init(namespace: NamespaceID, actor: Actor, operations: [WriteOperation] = []) {
    self.namespace = namespace
    self.actor = actor
    self.operations = operations
  }
}

// MARK: - Its parts

extension CommitRequest {
  /// What security rules evaluate a request with.
  public struct Access: Sendable {
    /// What the rules see as `auth`; nil for nobody. An actor that rules do not apply to has none.
    public var auth: AuthVariable?
    /// Gets the reasons of the decision; nil where nobody may know them.
    public var note: RuleDecisionNote?
  }

  /// What must still be true when a request is applied: what fails refuses the whole request as stale, before anything is
  /// applied.
  public struct Preconditions: Sendable {
    /// Nodes that must be what the author of the request saw.
    public var expectations: [Expectation] = []
    /// Subtrees in which nothing may have been written. What was removed is not noticed.
    public var unwritten: [Unwritten] = []
    /// Subtrees in which nothing may have changed, what was removed included. Every commit since is looked at, so it is for
    /// revisions of a moment ago.
    public var unchanged: [Unwritten] = []
  }

  /// A node that must still be what the author of the request saw.
  public struct Expectation: Sendable {
    /// Where it must be.
    public let path: Path
    /// What must be there, priority and all; absent if nothing may.
    public let node: TreeNode

    public init(path: Path, node: TreeNode) {
      self.path = path
      self.node = node
    }
  }

  /// A subtree in which nothing may have been written since a commit, not even what was there before.
  public struct Unwritten: Sendable {
    /// The subtree.
    public let path: Path
    /// The commit.
    public let since: Revision

    public init(path: Path, since: Revision) {
      self.path = path
      self.since = since
    }
  }

  /// What a request adds to the ledger.
  public struct Ledger: Sendable {
    /// Applied after the operations.
    public var transfers: [LedgerTransfer] = []
    /// Whether new balances are opening entries, not adjustments.
    public var isImport = false
  }

  /// What a request says of functions and their events.
  public struct Triggers: Sendable {
    /// Whether the commit makes no events, so that no function runs for it.
    public var areSuppressed = false
    /// The end of a function's run; its event and function may have only one, ever.
    public var execution: ExecutionRecord?
    /// Deliveries to store.
    public var deliveries: [DeliveryRecord] = []
    /// A delivery that this request settles.
    public var settles: (event: EventID, function: String)?
    /// See ``Snapshot/settledRevision(of:)``.
    public var settledRevision: Revision?
    /// What is to be remembered of functions; each replaces the record of its name.
    public var functions: [FunctionRecord] = []
  }

  /// Rows that a request stores beside the tree and the ledger.
  public struct Rows: Sendable {
    /// Messages for the outside, stored with the commit and delivered after it.
    public var outbox: [OutboxRecord] = []
    /// What becomes of keyed records; an expectation that fails refuses the whole request.
    public var records: [KeyedRecordChange] = []
    /// What happened to players, for what waits for it.
    public var playerEvents: [PlayerEvent] = []
    /// Rows of the administrators' work; nil for all other requests.
    public var maintenance: Maintenance?
  }

  /// What the logs say of a request.
  public struct Log: Sendable {
    /// What the client calls the request; nothing depends on it.
    public var requestID: String?
    /// The event and the function whose effect this is; nil for all other requests.
    public var cause: Cause?
    /// Whether the commit log gets a record of the request even if it changes nothing.
    public var isMarked = false
    /// A line for the audit log, written in the same transaction: a request that is refused leaves none.
    public var audit: AuditRecord?
  }

  /// Asks to answer a repetition of this request with the first answer.
  public struct Idempotency: Sendable {
    /// What the client calls the request; unique in its namespace.
    public let key: String
    /// SHA-256 of the request: another request under the same key is refused.
    public let requestDigest: [UInt8]
    /// How long to remember, in milliseconds.
    public let lifetime: Int64
    /// What the surface answers, from the receipt.
    public let answer: @Sendable (CommitReceipt) -> [UInt8]

    public init(
      key: String, requestDigest: [UInt8], lifetime: Int64, answer: @escaping @Sendable (CommitReceipt) -> [UInt8]
    ) {
      self.key = key
      self.requestDigest = requestDigest
      self.lifetime = lifetime
      self.answer = answer
    }
  }
}

/// Where the writer notes why security rules allowed or denied a request, for a caller who asked for the reasons.
public final class RuleDecisionNote: Sendable {
  /// What was noted.
  public struct RuleDecision: Sendable {
    /// What was asked for, as a phrase: `write /users/bob/level`.
    public let operation: String
    /// Whether the rules allowed it.
    public let isAllowed: Bool
    /// For people, on several lines.
    public let text: String
    /// For programs: every rule that was asked, and what it looked at, in the form of the rules' own explanation.
    public let rules: [JSON]

    public init(operation: String, isAllowed: Bool, text: String, rules: [JSON]) {
      self.operation = operation
      self.isAllowed = isAllowed
      self.text = text
      self.rules = rules
    }
  }

  /// Whether it is wanted also of what is allowed.
  public let isAlwaysWanted: Bool
  private let noted = Mutex<RuleDecision?>(nil)

  /// - Parameter isAlwaysWanted: by default only a denial is noted, and what is allowed costs nothing more.
  public init(isAlwaysWanted: Bool = false) {
    self.isAlwaysWanted = isAlwaysWanted
  }

  /// What was noted; nil before the request was judged, where no rules apply to it, and of what was allowed, unless that is
  /// wanted too.
  public var judgement: RuleDecision? {
    get { noted.withLock { $0 } }
    set { noted.withLock { $0 = newValue } }
  }
}

/// Who a write is from, as security rules see it: the variable `auth` (Firebase, "Security Rules API reference").
///
/// A class, so that a session's requests share one. Equal are those with equal texts.
public final class AuthVariable: Sendable, Hashable {
  /// An object: `uid`, `provider` and `token` with all claims; or, of an override, whatever was given.
  public let json: JSON
  /// The user; nil if an override names none.
  public let uid: String?

  /// The variable as it is given, of an override.
  public init(json: JSON) {
    self.json = json
    uid = json["uid"]?.string
  }

  /// The variable of a user whose ID token has these claims.
  public convenience init(uid: String, claims: JSON) {
    let provider = claims["firebase"]?["sign_in_provider"] ?? claims["provider_id"] ?? .null
    self.init(
      json: .object([
        JSON.Member(key: "uid", value: .string(uid)), JSON.Member(key: "provider", value: provider),
        JSON.Member(key: "token", value: claims),
      ]))
  }

  /// Under what name its writes are recorded.
  public var actor: Actor {
    if let uid { .user(uid: uid) } else { .anonymous }
  }

  public static func == (left: AuthVariable, right: AuthVariable) -> Bool {
    left === right || left.json == right.json
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(uid)
  }
}
