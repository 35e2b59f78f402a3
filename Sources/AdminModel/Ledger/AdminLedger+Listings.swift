import TreeModel

extension AdminLedger {
  /// Whose entries are wanted.
  package struct StatementQuery: AdminValue {
    package var account: String
    package var before: Int64?
    package var after: Int64?
    package var limit: Int64?
    package var code: String?
    package var since: Timestamp?
    package var until: Timestamp?

    package init(
      account: String, before: Int64? = nil, after: Int64? = nil, limit: Int64? = nil, code: String? = nil,
      since: Timestamp? = nil, until: Timestamp? = nil
    ) {
      self.account = account
      self.before = before
      self.after = after
      self.limit = limit
      self.code = code
      self.since = since
      self.until = until
    }

    package static let notes: [String: FieldNote] = [
      "account": .only(.filled, text: "The account: user:bob, issuance:signup."),
      "before": .text("Only entries before this one, newest first."),
      "after": .text("Only entries after this one, oldest first; not together with before."),
      "limit": .limit(50),
      "code": .code,
      "since": .since,
      "until": .until,
    ]
  }

  /// An account's entries, newest first; oldest first after one.
  package struct Statement: AdminValue {
    package var account: String
    package var entries: [Entry]
    /// The next page's before, or after.
    package var next: Int64?
    /// How many entries were looked at for those of a code.
    package var scanned: Int64?

    package init(account: String, entries: [Entry], next: Int64? = nil, scanned: Int64? = nil) {
      self.account = account
      self.entries = entries
      self.next = next
      self.scanned = scanned
    }

    package static let notes: [String: FieldNote] = [
      "next": .text("the next page's before, or its after"),
      "scanned": .text("how many entries were looked at for those of a code"),
    ]
  }

  /// Which entries are wanted.
  package struct EntryQuery: AdminValue {
    package var after: Int64?
    package var before: Int64?
    package var limit: Int64?
    package var key: String?
    package var code: String?
    package var since: Timestamp?
    package var until: Timestamp?

    package init(
      after: Int64? = nil, before: Int64? = nil, limit: Int64? = nil, key: String? = nil, code: String? = nil,
      since: Timestamp? = nil, until: Timestamp? = nil
    ) {
      self.after = after
      self.before = before
      self.limit = limit
      self.key = key
      self.code = code
      self.since = since
      self.until = until
    }

    package static let notes: [String: FieldNote] = [
      "after": .text("Only entries after this one, oldest first."),
      "before": .text(
        "Only entries before this one, newest first; 9007199254740992 begins with the last. Not together with after."),
      "limit": .limit(50),
      "key": .only(.filled, text: "Only the entry made under this business key."),
      "code": .code,
      "since": .since,
      "until": .until,
    ]
  }

  /// Entries, oldest first or newest first.
  package struct EntryList: AdminValue {
    package var entries: [Entry]
    /// The next page's after, or before.
    package var next: Int64?
    /// How many entries were looked at for those of a code.
    package var scanned: Int64?

    package init(entries: [Entry], next: Int64? = nil, scanned: Int64? = nil) {
      self.entries = entries
      self.next = next
      self.scanned = scanned
    }

    package static let notes: [String: FieldNote] = [
      "next": .text("the next page's after, or its before"),
      "scanned": .text("how many entries were looked at for those of a code"),
    ]
  }

  /// Which accounts are wanted.
  package struct AccountQuery: AdminValue {
    package var prefix: String?
    package var unit: String?
    package var after: String?
    package var limit: Int64?

    package init(prefix: String? = nil, unit: String? = nil, after: String? = nil, limit: Int64? = nil) {
      self.prefix = prefix
      self.unit = unit
      self.after = after
      self.limit = limit
    }

    package static let notes: [String: FieldNote] = [
      "prefix": .text("Only accounts whose names begin so: issuance:, user:b."),
      "unit": .only(.filled, text: "Only balances in this currency."),
      "after": .only(.filled, text: "The \"next\" of an earlier page, to go on behind it."),
      "limit": .limit(50, max: 200),
    ]
  }

  /// An account with one of its balances.
  package struct Account: AdminValue {
    package var account: String
    package var unit: String
    package var balance: Int64
    /// Of the account, in all units, counted up to a thousand: 1000 means so many or more.
    package var entries: Int64

    package init(account: String, unit: String, balance: Int64, entries: Int64) {
      self.account = account
      self.unit = unit
      self.balance = balance
      self.entries = entries
    }

    package static let notes: [String: FieldNote] = [
      "balance": .only(.int64),
      "entries": .text("of the account, in all units, counted up to a thousand: 1000 means so many or more"),
    ]
  }

  /// Accounts by the bytes of their names, each unit for itself.
  package struct AccountList: AdminValue {
    package var accounts: [Account]
    /// The next page's after.
    package var next: String?

    package init(accounts: [Account], next: String? = nil) {
      self.accounts = accounts
      self.next = next
    }

    package static let notes: [String: FieldNote] = [
      "next": .text("the next page's after")
    ]
  }
}

extension FieldNote {
  fileprivate static let code = FieldNote.only(
    .filled, text: "Only entries of this code: signup. Looks at 5000 entries, then says where to go on.")
}
