import StorageCore
import TreeModel

/// One entry of `currencies`: a kind of coin, and where the balances stand.
struct CurrencySection: ConfigurationSection {
  let currency: Currency?

  init(_ reader: ConfigurationReader) {
    let unit = reader.required("unit", "pieces_of_eight")
    let path = reader.required("path", "users/{uid}/inventory/pieces_of_eight")
    let holder = reader.text("holder") ?? "user"
    var pattern: PathPattern?
    if let path {
      do {
        pattern = try PathPattern(parsing: path)
      } catch {
        reader.fault("path", "\(error)")
      }
    }
    if let unit, let pattern {
      currency = Currency(unit: unit, pattern: pattern, holder: holder)
    } else {
      currency = nil
    }
  }
}
