import Ledger
import StorageCore
import Testing
import TreeModel

@Suite("Currencies are checked before they are used")
struct CurrencyTableTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let why: String
    let currencies: [Currency]

    init(_ why: String, _ currencies: Currency...) {
      self.why = why
      self.currencies = currencies
    }

    var testDescription: String { why }
  }

  static let faulty: [Row] = [
    Row("no owner", Currency(unit: "gold", pattern: "bank/gold")),
    Row("an owner without a name", Currency(unit: "gold", pattern: "users/*/gold")),
    Row("owners of any depth", Currency(unit: "gold", pattern: "users/{uid=**}")),
    Row("a unit with a slash", Currency(unit: "go/ld", pattern: "users/{uid}/gold")),
    Row("an empty unit", Currency(unit: "", pattern: "users/{uid}/gold")),
    Row("a holder with a colon", Currency(unit: "gold", pattern: "users/{uid}/gold", holder: "a:b")),
    Row("a holder that is the ledger's", Currency(unit: "gold", pattern: "users/{uid}/gold", holder: "hold")),
    Row("two places for one purse", .piecesOfEight, Currency(unit: "pieces_of_eight", pattern: "users/{uid}/coins")),
    Row(
      "one place for two units", Currency(unit: "gold", pattern: "users/{uid}/gold"),
      Currency(unit: "silver", pattern: "{all}/{uid}/gold")),
  ]

  @Test("a table that would mix up balances is refused", arguments: faulty)
  func isRefused(_ row: Row) {
    let error = #expect(throws: LedgerError.self) { try CurrencyTable(row.currencies) }
    #expect(error?.code == .invalidCurrency)
  }

  @Test("No currencies, and currencies that differ in unit, holder or place, are fine")
  func sound() throws {
    _ = try CurrencyTable([])
    _ = try CurrencyTable([
      .piecesOfEight, Currency(unit: "gems", pattern: "users/{uid}/gems"),
      Currency(unit: "gems", pattern: "guilds/{guild}/gems", holder: "guild"),
      Currency(unit: "tickets", pattern: "tickets/{uid}"),
    ])
  }
}
