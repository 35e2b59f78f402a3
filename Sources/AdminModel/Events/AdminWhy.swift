package import TreeModel

/// Why a player was paid, or was not.
package enum AdminWhy {
  package static let ask = Endpoint<Query, NoBody, Report>(
    .get, "/admin/v1/why", "Why a player was paid or not: facts and sentences, with the command that would repair it.",
    isScoped: true)

  /// Who is asked about.
  package struct Query: AdminValue {
    package var uid: String
    package var reward: String?
    package var beforeEntry: Int64?
    package var limit: Int64?

    package init(uid: String, reward: String? = nil, beforeEntry: Int64? = nil, limit: Int64? = nil) {
      self.uid = uid
      self.reward = reward
      self.beforeEntry = beforeEntry
      self.limit = limit
    }

    package static let notes: [String: FieldNote] = [
      "uid": .only(.form(JSONSchema.keyForm), text: "The player."),
      "reward": .only(.filled, text: "Only about this function."),
      "beforeEntry": .text("Only payments before this entry: the nextPayment of an earlier answer."),
      "limit": .only(.integer(1...200), text: "At most so many commits of each place; 20 if it is not given."),
    ]
  }

  /// What a function made of a change.
  package struct Change: AdminValue {
    package var event: String
    package var revision: Int64
    package var time: Timestamp
    package var actor: String
    package var path: String
    package var kind: String
    package var before: JSON
    package var after: JSON
    package var fate: String
    /// Why it was skipped or is paused.
    package var reason: String?
    package var error: String?
    package var attempts: Int64?
    package var nextAttemptAt: Timestamp?
    package var entries: [AdminLedger.Entry]?
    /// All of that in a sentence.
    package var text: String
    /// A command that would repair it.
    package var repair: String?

    package init(
      event: String, revision: Int64, time: Timestamp, actor: String, path: String, kind: String, before: JSON, after: JSON,
      fate: String, reason: String? = nil, error: String? = nil, attempts: Int64? = nil, nextAttemptAt: Timestamp? = nil,
      entries: [AdminLedger.Entry]? = nil, text: String, repair: String? = nil
    ) {
      self.event = event
      self.revision = revision
      self.time = time
      self.actor = actor
      self.path = path
      self.kind = kind
      self.before = before
      self.after = after
      self.fate = fate
      self.reason = reason
      self.error = error
      self.attempts = attempts
      self.nextAttemptAt = nextAttemptAt
      self.entries = entries
      self.text = text
      self.repair = repair
    }

    package static let notes: [String: FieldNote] = [
      "reason": .text("why it was skipped or is paused"),
      "text": .text("all of that in a sentence"),
      "repair": .text("a command that would repair it"),
    ]
  }

  /// What a function made of the changes at a player's path.
  package struct Story: AdminValue {
    package var function: String
    package var player: String
    package var path: String
    package var runsOn: String
    package var paused: Bool
    package var pauseReason: String?
    /// Oldest first.
    package var changes: [Change]
    /// Whether that is all that is remembered.
    package var complete: Bool
    package var prunedThrough: Int64?

    private enum CodingKeys: String, CodingKey {
      case function
      case player
      case path = "place"
      case runsOn
      case paused
      case pauseReason
      case changes
      case complete
      case prunedThrough
    }

    package init(
      function: String, player: String, path: String, runsOn: String, paused: Bool, pauseReason: String? = nil,
      changes: [Change], complete: Bool, prunedThrough: Int64? = nil
    ) {
      self.function = function
      self.player = player
      self.path = path
      self.runsOn = runsOn
      self.paused = paused
      self.pauseReason = pauseReason
      self.changes = changes
      self.complete = complete
      self.prunedThrough = prunedThrough
    }

    package static let notes: [String: FieldNote] = [
      "changes": .text("oldest first"),
      "complete": .text("whether that is all that is remembered"),
    ]
  }

  /// Coins that moved on a player's account.
  package struct Payment: AdminValue {
    package var entry: AdminLedger.Entry
    package var received: Bool
    package var reversedBy: Int64?
    package var text: String

    package init(entry: AdminLedger.Entry, received: Bool, reversedBy: Int64? = nil, text: String) {
      self.entry = entry
      self.received = received
      self.reversedBy = reversedBy
      self.text = text
    }
  }

  /// Another player whose record names this one.
  package struct Mention: AdminValue {
    package var player: String
    package var path: String
    package var functions: [Story]

    private enum CodingKeys: String, CodingKey {
      case player
      case path = "place"
      case functions
    }

    package init(player: String, path: String, functions: [Story]) {
      self.player = player
      self.path = path
      self.functions = functions
    }
  }

  /// Why a player was paid or not.
  package struct Report: AdminValue {
    package var uid: String
    package var revision: Int64
    package var functions: [Story]
    /// Functions whose places for the player are spread over the tree.
    package var spread: [String]
    /// Newest first.
    package var payments: [Payment]
    /// The beforeEntry of the next page.
    package var nextPayment: Int64?
    /// Other players whose record names this one.
    package var mentions: [Mention]
    package var sawAllMentions: Bool
    /// Whether anything says that there is such a player.
    package var known: Bool
    /// What functions gave up on that is the player's, where no story tells.
    package var deadLetters: [AdminEvents.Delivery]
    package var sawAllDeadLetters: Bool
    /// The whole answer in words.
    package var lines: [String]
    /// Of a player who left.
    package var erasure: AdminAccounts.Erasure?

    package init(
      uid: String, revision: Int64, functions: [Story], spread: [String], payments: [Payment], nextPayment: Int64? = nil,
      mentions: [Mention], sawAllMentions: Bool, known: Bool, deadLetters: [AdminEvents.Delivery], sawAllDeadLetters: Bool,
      lines: [String], erasure: AdminAccounts.Erasure? = nil
    ) {
      self.uid = uid
      self.revision = revision
      self.functions = functions
      self.spread = spread
      self.payments = payments
      self.nextPayment = nextPayment
      self.mentions = mentions
      self.sawAllMentions = sawAllMentions
      self.known = known
      self.deadLetters = deadLetters
      self.sawAllDeadLetters = sawAllDeadLetters
      self.lines = lines
      self.erasure = erasure
    }

    package static let notes: [String: FieldNote] = [
      "spread": .text("functions whose places for the player are spread over the tree"),
      "payments": .text("newest first"),
      "nextPayment": .text("the beforeEntry of the next page"),
      "mentions": .text("other players whose record names this one"),
      "known": .text("whether anything says that there is such a player"),
      "deadLetters": .text("what functions gave up on that is the player's, where no story tells"),
      "lines": .text("the whole answer in words"),
      "erasure": .text("of a player who left"),
    ]
  }
}
