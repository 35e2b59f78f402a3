package import HTTPServer
package import Ledger
import NIOHTTP1
package import StorageCore
import TextFormats
package import TreeModel

extension APIError {
  /// There is more than one answer, or one listen, may hold.
  package static let tooMuchToRead = badRequest(
    "Data requested exceeds the maximum size that can be accessed with a single request.")

  /// The store cannot be looked at; nobody knows who may read what.
  package static let notReadable = APIError(
    .serviceUnavailable, "unavailable", "The data cannot be read at this moment; try again.",
    headers: [HTTPResponse.Header("Retry-After", "1")])

  /// The status of everything that the write pipeline refuses.
  ///
  /// 500 and 503 are only for what was not applied: clients repeat such requests (Firebase's REST reference, error
  /// conditions).
  package init(_ error: CommitError) {
    let (status, code): (HTTPResponseStatus, String) =
      switch error.code {
      case .stale: (.preconditionFailed, "stale")
      case .permissionDenied: (.unauthorized, "permission_denied")
      case .invalid: (.badRequest, "invalid_argument")
      case .tooLarge: (.badRequest, "too_large")
      case .triggersExceeded: (.badRequest, "triggers_exceeded")
      case .balanceType: (.conflict, "balance_type")
      case .balanceOverflow: (.conflict, "balance_overflow")
      case .insufficientFunds: (.conflict, "insufficient_funds")
      case .keyTaken: (.conflict, "key_taken")
      case .invalidTransfer: (.badRequest, "invalid_transfer")
      case .alreadyExecuted: (.conflict, "already_executed")
      case .recordChanged: (.conflict, "record_changed")
      case .idempotencyConflict: (.unprocessableEntity, "idempotency_conflict")
      case .rejected: (.badRequest, "rejected")
      case .overloaded: (.serviceUnavailable, "overloaded")
      case .unavailable: (.serviceUnavailable, "unavailable")
      }
    self.init(status, code, error.message)
    switch error.code {
    case .overloaded: headers = [HTTPResponse.Header("Retry-After", "1")]
    case .unavailable: headers = [HTTPResponse.Header("Retry-After", "5")]
    default: break
    }
  }

  /// What is asked for was erased, for a player who left.
  package static func erased(_ erasedPath: ErasedPath) -> APIError {
    APIError(
      .gone, "erased",
      "\(erasedPath.path) was erased on \(CalendarTime(milliseconds: erasedPath.at).readable) by \(erasedPath.actor) (\(erasedPath.reason)): its data up to revision "
        + "\(erasedPath.through) is not known any more.")
  }

  package static func unknownNamespace(_ name: String) -> APIError {
    APIError(
      .notFound, "unknown_namespace",
      "There is no database \"\(name)\" here: check the host name or the parameter ns, or create it as an administrator.")
  }

  /// Data that cannot be written, whatever the present value.
  package init(_ error: WriteDataError) {
    if case .tooLarge = error.code {
      self.init(.badRequest, "too_large", error.description)
    } else {
      self = .badRequest(error.description)
    }
  }

  package init(_ error: StorageError) {
    if error.code == .unreadable {
      self.init(.gone, "unreadable", error.message)
    } else {
      self.init(.serviceUnavailable, "unavailable", error.message)
    }
  }
}

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
}

extension CommitError: APIErrorConvertible {
  package var apiError: APIError { APIError(self) }
}

extension StorageError: APIErrorConvertible {
  package var apiError: APIError { APIError(self) }
}

extension LedgerError: APIErrorConvertible {
  package var apiError: APIError { APIError(self) }
}
