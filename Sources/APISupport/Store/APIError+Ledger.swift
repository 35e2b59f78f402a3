package import HTTPServer
package import Ledger
import NIOHTTP1

extension APIError {
  /// What the ledger refused.
  package init(_ error: LedgerError) {
    let status: HTTPResponseStatus =
      switch error.code {
      case .notFound: .notFound
      case .invalid, .invalidCurrency: .badRequest
      case .unavailable: .serviceUnavailable
      default: .conflict
      }
    self.init(status, error.code.description, error.message)
  }

  /// Asks the ledger; what it refuses is refused here.
  package static func mapping<Value>(_ body: () throws(LedgerError) -> Value) throws(APIError) -> Value {
    do throws(LedgerError) {
      return try body()
    } catch {
      throw APIError(error)
    }
  }
}
