import FunctionsKit
import Ledger
import ServerConfiguration
import StorageCore
import StorageSQLite
import TreeModel

/// The currencies in force, as the store remembers them: a tool that opens the data later keeps the same ledger, whatever it
/// was configured with.
struct CurrencyList {
  let currencies: [Currency]

  /// - Parameters:
  ///   - configured: those of the configuration, or the default.
  ///   - declared: those of the deployment's code.
  init(_ configured: [Currency], _ declared: [CurrencyDeclaration]) {
    var all = configured
    for one in declared {
      let currency = Currency(unit: one.unit, pattern: one.pattern, holder: one.holder)
      if let known = all.firstIndex(where: { Self.isSame($0, other: currency) }) {
        all[known] = currency
      } else {
        all.append(currency)
      }
    }
    currencies = all
  }

  /// Reads what ``text`` wrote; nil if it is damaged.
  init?(stored text: String) {
    guard let rows = try? JSONParser.parse(text).array else { return nil }
    var all: [Currency] = []
    for row in rows {
      guard let unit = row["unit"]?.string, let path = row["path"]?.string, let holder = row["holder"]?.string,
        let pattern = try? PathPattern(parsing: path)
      else { return nil }
      all.append(Currency(unit: unit, pattern: pattern, holder: holder, isImplicit: row["implicit"]?.bool ?? false))
    }
    currencies = all
  }

  /// As JSON, in order.
  var text: String {
    let rows = currencies.map { currency -> JSON in
      var members: [JSON.Member] = [
        .init(key: "unit", value: .string(currency.unit)), .init(key: "path", value: .string(currency.pattern.description)),
        .init(key: "holder", value: .string(currency.holder)),
      ]
      if currency.isImplicit { members.append(.init(key: "implicit", value: .bool(true))) }
      return .object(members)
    }
    return JSON.array(rows).compactText
  }

  /// What holds for a store: a server declares its currencies there, and who only looks takes what was declared last.
  ///
  /// - Throws: `LedgerError` if two of them contradict each other; nothing is declared then.
  static func inForce(_ configuration: ServerConfiguration, declared: [CurrencyDeclaration], in engine: SQLiteEngine) throws
    -> [Currency]
  {
    let list = CurrencyList(configuration.currencies, declared)
    let stored = try engine.declaredCurrencies()
    guard configuration.dispatchesFunctions else {
      return stored.flatMap { CurrencyList(stored: $0) }?.currencies ?? list.currencies
    }
    _ = try CurrencyTable(list.currencies)
    if stored != list.text { try engine.declareCurrencies(list.text) }
    return list.currencies
  }

  private static func isSame(_ one: Currency, other: Currency) -> Bool {
    one.unit == other.unit && one.holder == other.holder && one.pattern.description == other.pattern.description
  }
}
