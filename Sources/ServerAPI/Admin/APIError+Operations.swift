import Ledger
import NIOHTTP1

extension APIError {
  init(_ fault: OperationFault) {
    let status: HTTPResponseStatus =
      switch fault.code {
      case .notFound: .notFound
      case .conflict: .conflict
      case .invalid: .badRequest
      case .unavailable: .serviceUnavailable
      }
    self.init(status, fault.code.rawValue, fault.message)
  }

  init(_ error: LedgerError) {
    let status: HTTPResponseStatus =
      switch error.code {
      case .notFound: .notFound
      case .invalid, .invalidCurrency: .badRequest
      case .unavailable: .serviceUnavailable
      default: .conflict
      }
    self.init(status, error.code.description, error.message)
  }
}
