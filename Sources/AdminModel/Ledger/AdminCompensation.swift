import TreeModel

/// Tables of payments: what they would do, and what they did.
package enum AdminCompensation {
  package static let previewCompensation = Endpoint<NoQuery, CompensationOrder, CompensationPreview>(
    .post, "/admin/v1/ledger/compensation/preview",
    "What a table of payments would do: who would be paid, what is wrong, what was paid before; nothing changes.",
    isScoped: true)
  package static let compensate = Endpoint<NoQuery, CompensationOrder, Compensated>(
    .post, "/admin/v1/ledger/compensation",
    "Pays a table of payments from issuance:compensation, each line once by its key; nothing while a line is at fault.",
    access: .admin, isScoped: true)

  /// A table of payments.
  package struct CompensationOrder: AdminValue {
    /// account,amount,unit,key,reason; the first line names the columns.
    package var csv: String
    /// Why, for lines that do not say it themselves.
    package var reason: String?
    /// Whether players are paid of whom there is no account and no record.
    package var allowUnknown: Bool?

    package init(csv: String, reason: String? = nil, allowUnknown: Bool? = nil) {
      self.csv = csv
      self.reason = reason
      self.allowUnknown = allowUnknown
    }

    package static let notes: [String: FieldNote] = [
      "csv": .only(
        .filled,
        text:
          "account,amount,unit,key,reason: the first line names the columns, unit and reason may be left out; at most 10000 lines"
      ),
      "reason": .text("why, for lines that do not say it themselves; needed to pay"),
      "allowUnknown": .text("whether players are paid of whom there is no account and no record"),
    ]
  }

  /// A line of the table.
  package struct CompensationLine: AdminValue {
    package var line: Int64
    package var account: String
    package var amount: Int64
    package var unit: String
    package var key: String
    package var reason: String?
    /// The entry that paid it before.
    package var entry: Int64?

    package init(
      line: Int64, account: String, amount: Int64, unit: String, key: String, reason: String? = nil, entry: Int64? = nil
    ) {
      self.line = line
      self.account = account
      self.amount = amount
      self.unit = unit
      self.key = key
      self.reason = reason
      self.entry = entry
    }

    package static let notes: [String: FieldNote] = [
      "amount": .only(.int64), "entry": .text("the entry that paid it before"),
    ]
  }

  /// What is wrong with a line.
  package struct CompensationFault: AdminValue {
    package var line: Int64
    /// The column's name, or its number.
    package var column: String
    package var error: String

    package init(line: Int64, column: String, error: String) {
      self.line = line
      self.column = column
      self.error = error
    }

    package static let notes: [String: FieldNote] = ["column": .text("the column's name, or its number; empty for the file")]
  }

  /// What a table would do. Of each kind the first hundred are shown.
  package struct CompensationPreview: AdminValue {
    /// How many lines can be read.
    package var lines: Int64
    /// How many would be paid.
    package var pays: Int64
    /// By unit.
    package var coins: NamedValues<Int64>
    package var payments: [CompensationLine]
    /// How many were paid before: nothing would happen.
    package var repeated: Int64
    package var repeats: [CompensationLine]
    /// How many lines name a player of whom there is no account and no record.
    package var unknown: Int64
    package var unknownPlayers: [CompensationLine]
    /// Nothing is paid while there are any.
    package var faultCount: Int64
    package var faults: [CompensationFault]

    package init(
      lines: Int64, pays: Int64, coins: NamedValues<Int64>, payments: [CompensationLine], repeated: Int64,
      repeats: [CompensationLine], unknown: Int64, unknownPlayers: [CompensationLine], faultCount: Int64,
      faults: [CompensationFault]
    ) {
      self.lines = lines
      self.pays = pays
      self.coins = coins
      self.payments = payments
      self.repeated = repeated
      self.repeats = repeats
      self.unknown = unknown
      self.unknownPlayers = unknownPlayers
      self.faultCount = faultCount
      self.faults = faults
    }

    package static let notes: [String: FieldNote] = [
      "lines": .text("how many lines can be read"),
      "pays": .text("how many would be paid"),
      "coins": .text("by unit"),
      "payments": .text("the first hundred of them"),
      "repeated": .text("how many were paid before: nothing would happen"),
      "unknown": .text("how many of those that would be paid name a player of whom there is no account and no record"),
      "faultCount": .text("nothing is paid while there are any"),
    ]
  }

  /// A line that could not be paid; the others were.
  package struct UnpaidLine: AdminValue {
    package var line: Int64
    package var error: String
    package var code: String

    package init(line: Int64, error: String, code: String) {
      self.line = line
      self.error = error
      self.code = code
    }
  }

  /// What became of a table.
  package struct Compensated: AdminValue {
    /// How many lines were paid now.
    package var paid: Int64
    /// By unit.
    package var coins: NamedValues<Int64>
    /// How many had been paid before.
    package var repeated: Int64
    /// Lines that could not be paid.
    package var refused: [UnpaidLine]

    package init(paid: Int64, coins: NamedValues<Int64>, repeated: Int64, refused: [UnpaidLine]) {
      self.paid = paid
      self.coins = coins
      self.repeated = repeated
      self.refused = refused
    }

    package static let notes: [String: FieldNote] = [
      "paid": .text("how many lines were paid now"),
      "coins": .text("by unit"),
      "repeated": .text("how many had been paid before: nothing was paid again"),
      "refused": .text("lines that could not be paid; send the table again when the reason is gone"),
    ]
  }
}
