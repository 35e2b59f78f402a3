import HTTPServer
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
}
