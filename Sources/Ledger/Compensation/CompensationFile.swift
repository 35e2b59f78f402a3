package import RewardModel
import StorageCore

/// Who is to be paid, as a table says: `account,amount,unit,key,reason`, of which unit and reason may be left out.
///
/// The first row names the columns, in any order. An account without a colon is a player's id. What the table alone tells is
/// judged here; what the store has to do with it is judged by ``CompensationPlan``.
package struct CompensationFile: Sendable {
  /// One line: one payment.
  package struct Row: Sendable, Hashable {
    /// The line of the text on which it stands, from 1 on.
    package let line: Int
    package let account: LedgerAccount
    /// Above zero, in minor units.
    package let amount: Int64
    package let unit: String
    package let key: BusinessKey
    /// A person's words; nil for those of the whole file.
    package let reason: String?
  }

  /// What is wrong, and where.
  package struct Fault: Error, Sendable, Hashable {
    package let line: Int
    /// The column's name; its number where it has none.
    package let column: String
    package let message: String

    init(_ line: Int, _ column: Column, _ message: String) {
      (self.line, self.column, self.message) = (line, column.rawValue, message)
    }

    init(line: Int, column: String, message: String) {
      (self.line, self.column, self.message) = (line, column, message)
    }
  }

  /// The columns that are known.
  enum Column: String, CaseIterable {
    case account, amount, unit, key, reason
  }

  /// Payments of one file.
  package static let rowsMax = 10_000
  /// The size of one file, in UTF-8 bytes.
  package static let bytesMax = 4 << 20
  private static let reasonBytesMax = 1000

  /// Those without a fault.
  package private(set) var rows: [Row] = []
  package private(set) var faults: [Fault] = []

  /// Reads a table.
  ///
  /// - `unit`: the currency where a line names none; nil if there is no such.
  package init(csv text: String, unit: String?, currencies: CurrencyTable) {
    guard text.utf8.count <= Self.bytesMax else {
      faults = [Fault(line: 1, column: "", message: "The file is larger than \(Self.bytesMax >> 20) MiB: cut it in parts.")]
      return
    }
    do throws(CSVTable.Fault) {
      let table = try CSVTable(text, rowsMax: Self.rowsMax + 1)
      guard let places = columns(table.rows.first) else { return }
      var lines: [BusinessKey: Int] = [:]
      for row in table.rows.dropFirst() {
        guard row.fields.count == places.count else {
          faults.append(
            Fault(
              line: row.line, column: "\(row.fields.count)",
              message: "The line has \(row.fields.count) values; the first one names \(places.count) columns."))
          continue
        }
        let values = CompensationLine(line: row.line, fields: row.fields, places: places)
        do throws(Fault) {
          let row = try values.row(unit: unit, currencies: currencies)
          if let first = lines.updateValue(row.line, forKey: row.key) {
            throw Fault(row.line, .key, "Line \(first) has the same key: give each payment one of its own.")
          }
          rows.append(row)
        } catch {
          faults.append(error)
        }
      }
      if rows.isEmpty, faults.isEmpty {
        faults = [Fault(line: 2, column: "", message: "Nobody is to be paid: there are no lines.")]
      }
    } catch {
      faults.append(Fault(line: error.line, column: "\(error.column)", message: error.message))
    }
  }

  /// Which column stands where; nil with a fault if the first row does not say it.
  private mutating func columns(_ head: CSVTable.Row?) -> [Column]? {
    let names = Column.allCases.map(\.rawValue).joined(separator: ",")
    guard let head else {
      faults = [Fault(line: 1, column: "", message: "The file is empty. Its first line is \(names).")]
      return nil
    }
    var found: [Column] = []
    for (index, name) in head.fields.enumerated() {
      guard let column = Column(rawValue: name), !found.contains(column) else {
        let what = found.contains { $0.rawValue == name } ? "is named twice" : "is no column"
        faults = [
          Fault(
            line: head.line, column: "\(index + 1)",
            message: "\"\(name.prefix(100))\" \(what): the first line names the columns, \(names).")
        ]
        return nil
      }
      found.append(column)
    }
    for column in [Column.account, .amount, .key] where !found.contains(column) {
      faults = [Fault(head.line, column, "This column is missing: the first line names the columns, \(names).")]
      return nil
    }
    return found
  }

  /// One line of the table, read.
  private struct CompensationLine {
    let line: Int
    let fields: [String]
    let places: [Column]

    private subscript(column: Column) -> String {
      places.firstIndex(of: column).map { fields[$0] } ?? ""
    }

    func row(unit: String?, currencies: CurrencyTable) throws(Fault) -> Row {
      let account = try account(currencies)
      let unit = try self.unit(unit, of: account, currencies: currencies)
      let reason = self[.reason]
      guard reason.utf8.count <= CompensationFile.reasonBytesMax else {
        throw Fault(line, .reason, "A reason has at most \(CompensationFile.reasonBytesMax) bytes; this one has more.")
      }
      let key = BusinessKey(self[.key])
      if let problem = TransferKeys.problem(ofNewKey: key) { throw Fault(line, .key, problem) }
      return Row(
        line: line, account: account, amount: try amount(), unit: unit, key: key, reason: reason.isEmpty ? nil : reason)
    }

    private func account(_ currencies: CurrencyTable) throws(Fault) -> LedgerAccount {
      let name = self[.account]
      guard !name.isEmpty else { throw Fault(line, .account, "Nobody is named.") }
      let account = LedgerAccount(name.utf8.contains(UInt8(ascii: ":")) ? name : "user:\(name)")
      guard account.name.utf8.count <= LedgerAccount.bytesMax else {
        throw Fault(line, .account, "An account's name has at most \(LedgerAccount.bytesMax) bytes; this one has more.")
      }
      guard currencies.isHolder(account) else {
        throw Fault(
          line, .account, "\"\(name.prefix(100))\" is no player's account. A player whose id has a colon is user:ID.")
      }
      return account
    }

    private func unit(_ fallback: String?, of account: LedgerAccount, currencies: CurrencyTable) throws(Fault) -> String {
      guard let unit = self[.unit].isEmpty ? fallback : self[.unit] else {
        throw Fault(line, .unit, "Name the currency: this game has several.")
      }
      do throws(LedgerError) {
        _ = try currencies.place(of: PlayerBalanceKey(account: account, unit: unit))
        return unit
      } catch {
        throw Fault(line, currencies.currencies.contains { $0.unit == unit } ? .account : .unit, error.message)
      }
    }

    /// Digits alone: what a spreadsheet makes of a number (1e3, 1.000, "+5") is not guessed at.
    private func amount() throws(Fault) -> Int64 {
      let text = self[.amount]
      let isPlain = (1...19).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
      guard isPlain, let amount = Int64(text), amount > 0 else {
        throw Fault(
          line, .amount, "\"\(text.prefix(30))\" is no amount: write a whole number, 1 to \(Int64.max), in digits alone.")
      }
      return amount
    }
  }
}
