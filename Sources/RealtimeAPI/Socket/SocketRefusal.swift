import StorageCore
import TreeModel

/// Why a request is answered with an error (spec: rtdb-protocol §3.4, status strings).
struct SocketRefusal: Error {
  let status: StaticString
  /// Shown to the developer.
  let message: String

  init(_ status: StaticString, _ message: String) {
    self.status = status
    self.message = message
  }

  static func failure(_ message: String) -> SocketRefusal { SocketRefusal("failure", message) }
  static let permissionDenied = SocketRefusal("permission_denied", "Permission denied")
  static let tooMuch = SocketRefusal(
    "too_big", "Data requested exceeds the maximum size that can be accessed with a single request.")
}

extension SocketRefusal {
  /// What a client is told of data that cannot be written.
  init(_ error: WriteDataError) {
    if case .tooLarge = error.code { self.init("too_big", error.description) } else { self = .failure(error.description) }
  }

  /// What a client is told of a write that was refused.
  init(_ refusal: CommitRefusal) {
    switch refusal.code {
    case .stale: self.init("datastale", "Transaction hash does not match")
    case .permissionDenied: self = .permissionDenied
    case .tooLarge, .triggersExceeded: self.init("too_big", refusal.message)
    case .overloaded, .unavailable: self.init("unavailable", refusal.message)
    default: self = .failure(refusal.message)
    }
  }
}
