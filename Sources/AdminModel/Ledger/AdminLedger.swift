import TreeModel

/// The ledger: balances, entries, holds, corrections.
package enum AdminLedger {
  private static let holdNumber = EndpointParameter(
    "sequence", .count, isRequired: true, "The sequence of the entry that made the hold.")

  package static let balance = Endpoint<BalanceQuery, NoBody, Balance>(
    .get, "/admin/v1/ledger/balance", "An account's balance.", isScoped: true)
  package static let statement = Endpoint<StatementQuery, NoBody, Statement>(
    .get, "/admin/v1/ledger/statement", "An account's entries, newest first; oldest first after one.", isScoped: true)
  package static let entries = Endpoint<EntryQuery, NoBody, EntryList>(
    .get, "/admin/v1/ledger/entries",
    "All entries, oldest first or, before one, newest first; or the one made under a key.", isScoped: true)
  package static let accounts = Endpoint<AccountQuery, NoBody, AccountList>(
    .get, "/admin/v1/ledger/accounts", "The accounts that have entries, with their balances, by name.", isScoped: true)
  package static let verify = Endpoint<NoQuery, NoBody, Verification>(
    .get, "/admin/v1/ledger/verify", "Audits the whole ledger of a namespace.", isScoped: true)
  package static let transfer = Endpoint<NoQuery, TransferOrder, Posted>(
    .post, "/admin/v1/ledger/transfers", "Moves coins, once for each key.", access: .admin, isScoped: true)
  package static let reverse = Endpoint<NoQuery, ReverseOrder, Posted>(
    .post, "/admin/v1/ledger/reverse", "Takes an entry back by a new one.", access: .support, isScoped: true)
  package static let previewTransfer = Endpoint<NoQuery, TransferOrder, TransferPreview>(
    .post, "/admin/v1/ledger/transfer/preview", "What a transfer would do, judged as if it were made; nothing changes.",
    isScoped: true)
  package static let previewReversal = Endpoint<NoQuery, ReversePreviewOrder, ReversalPreview>(
    .post, "/admin/v1/ledger/reverse/preview", "What a reversal would do, judged as if it were made; nothing changes.",
    isScoped: true)
  package static let holds = Endpoint<HoldQuery, NoBody, HoldList>(
    .get, "/admin/v1/ledger/holds", "What is held and waits, oldest first.", isScoped: true)
  package static let hold = Endpoint<NoQuery, HoldOrder, Posted>(
    .post, "/admin/v1/ledger/holds", "Sets coins aside.", access: .admin, isScoped: true)
  package static let release = Endpoint<NoQuery, ReleaseOrder, Ended>(
    .post, "/admin/v1/ledger/holds/{sequence}/release",
    "Pays a hold out: to the player for whom it is held, or as an administrator says.", access: .support, isScoped: true,
    captures: [holdNumber])
  package static let void = Endpoint<NoQuery, VoidOrder, Ended>(
    .post, "/admin/v1/ledger/holds/{sequence}/void", "Gives a hold back.", access: .support, isScoped: true,
    captures: [holdNumber])

  /// An entry of the ledger.
  package struct Entry: AdminValue {
    package var sequence: Int64
    package var revision: Int64
    package var time: Timestamp
    package var debit: String
    package var credit: String
    package var amount: Int64
    package var unit: String
    package var code: String
    package var key: String
    package var event: String?
    package var function: String?
    package var subject: String?
    package var reverses: Int64?
    package var reason: String?
    package var expiresAt: Timestamp?
    package var debitAfter: Int64
    package var creditAfter: Int64
    package var hash: String
    /// The claim that a reward for an invitation rests on: inviter, link, click or code.
    package var referral: ReferralEvidence?
    /// The entry that took this one back, where entries are listed.
    package var reversedBy: Int64?

    package init(
      sequence: Int64, revision: Int64, time: Timestamp, debit: String, credit: String, amount: Int64, unit: String,
      code: String, key: String, event: String? = nil, function: String? = nil, subject: String? = nil, reverses: Int64? = nil,
      reason: String? = nil, expiresAt: Timestamp? = nil, debitAfter: Int64, creditAfter: Int64, hash: String,
      referral: ReferralEvidence? = nil, reversedBy: Int64? = nil
    ) {
      self.sequence = sequence
      self.revision = revision
      self.time = time
      self.debit = debit
      self.credit = credit
      self.amount = amount
      self.unit = unit
      self.code = code
      self.key = key
      self.event = event
      self.function = function
      self.subject = subject
      self.reverses = reverses
      self.reason = reason
      self.expiresAt = expiresAt
      self.debitAfter = debitAfter
      self.creditAfter = creditAfter
      self.hash = hash
      self.referral = referral
      self.reversedBy = reversedBy
    }

    package static let schemaName: String? = "Entry"

    package static let notes: [String: FieldNote] = [
      "amount": .only(.int64),
      "debitAfter": .only(.int64),
      "creditAfter": .only(.int64),
      "referral": .only(.object([]), text: "the claim that a reward for an invitation rests on: inviter, link, click or code"),
      "reversedBy": .text("the entry that took this one back, where entries are listed"),
    ]
  }

  /// What a reward for an invitation rests on.
  package struct ReferralEvidence: AdminValue {
    package var player: String
    package var inviter: String
    package var link: String
    package var at: Timestamp
    package var how: String
    package var click: String?
    package var clickedAt: Timestamp?
    package var platform: String?
    package var code: String?

    package init(
      player: String, inviter: String, link: String, at: Timestamp, how: String, click: String? = nil,
      clickedAt: Timestamp? = nil, platform: String? = nil, code: String? = nil
    ) {
      self.player = player
      self.inviter = inviter
      self.link = link
      self.at = at
      self.how = how
      self.click = click
      self.clickedAt = clickedAt
      self.platform = platform
      self.code = code
    }
  }

  /// Whose balance is wanted.
  package struct BalanceQuery: AdminValue {
    package var account: String
    package var unit: String?

    package init(account: String, unit: String? = nil) {
      self.account = account
      self.unit = unit
    }

    package static let notes: [String: FieldNote] = [
      "account": .only(.filled, text: "The account: user:bob, issuance:signup."),
      "unit": .only(.filled, text: "The currency; pieces_of_eight if it is not given."),
    ]
  }

  /// What an account has.
  package struct Balance: AdminValue {
    package var account: String
    package var unit: String
    package var balance: Int64

    package init(account: String, unit: String, balance: Int64) {
      self.account = account
      self.unit = unit
      self.balance = balance
    }

    package static let notes: [String: FieldNote] = [
      "balance": .only(.int64)
    ]
  }

  /// A rule that does not hold.
  package struct Finding: AdminValue {
    package var kind: String
    package var sequence: Int64?
    package var account: String?
    package var message: String

    package init(kind: String, sequence: Int64? = nil, account: String? = nil, message: String) {
      self.kind = kind
      self.sequence = sequence
      self.account = account
      self.message = message
    }
  }

  /// A value in the tree that is no balance.
  package struct UnbackedValue: AdminValue {
    package var path: String
    package var account: String
    package var unit: String
    package var found: String

    package init(path: String, account: String, unit: String, found: String) {
      self.path = path
      self.account = account
      self.unit = unit
      self.found = found
    }
  }

  /// What an audit of a namespace's ledger found.
  package struct Verification: AdminValue {
    package var sound: Bool
    package var entries: Int64
    package var accounts: Int64
    package var lastHash: String
    package var firstBrokenEntry: Int64?
    package var faultCount: Int64
    package var faults: [Finding]
    package var unbackedCount: Int64
    /// Values in the tree that are no balances.
    package var unbacked: [UnbackedValue]

    package init(
      sound: Bool, entries: Int64, accounts: Int64, lastHash: String, firstBrokenEntry: Int64? = nil, faultCount: Int64,
      faults: [Finding], unbackedCount: Int64, unbacked: [UnbackedValue]
    ) {
      self.sound = sound
      self.entries = entries
      self.accounts = accounts
      self.lastHash = lastHash
      self.firstBrokenEntry = firstBrokenEntry
      self.faultCount = faultCount
      self.faults = faults
      self.unbackedCount = unbackedCount
      self.unbacked = unbacked
    }

    package static let notes: [String: FieldNote] = [
      "unbacked": .text("values in the tree that are no balances")
    ]
  }
}
