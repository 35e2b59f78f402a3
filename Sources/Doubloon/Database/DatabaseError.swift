public import Foundation
import SyncModel

/// Why the database did not do what was asked.
public enum DatabaseError: Error, Sendable, Equatable, CustomNSError, LocalizedError {
  /// The rules do not allow it; the reason is there where the server tells it.
  case permissionDenied(reason: String, path: String)
  /// The server cannot do it now.
  case unavailable(String)
  /// The write was withdrawn before the server answered.
  case writeCanceled
  /// What the write was to build on is no longer there.
  case stale
  /// The value changed under the transaction too often.
  case maxRetries
  /// A set at, above or below the transaction's place.
  case overriddenBySet
  /// The connection was lost after the transaction was sent: whether it was done is not known.
  case disconnected
  /// The place is none: the sentence says why.
  case invalidPath(String)
  /// The data is none that the tree can hold: the sentence says why.
  case invalidData(String)
  /// The query is none: the sentence says why.
  case invalidQuery(reason: String)
  /// The app is not configured.
  case notConfigured
  /// Nobody could be asked.
  case offline
  /// The time that the caller gave was not enough; the write goes on.
  case timedOut
  /// Anything else: the server's word, and what it said about it.
  case failed(status: String, reason: String)

  /// `com.firebase`, as other clients have it.
  public static var errorDomain: String { "com.firebase" }

  /// 1 for what the rules deny, 2 for what is unavailable, 3 for withdrawn writes, else 9999.
  public var errorCode: Int {
    switch self {
    case .permissionDenied: 1
    case .unavailable, .offline: 2
    case .writeCanceled: 3
    default: 9999
    }
  }

  /// The sentence, for `NSError`.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: errorDescription ?? ""] }

  /// What happened, and what to do.
  public var errorDescription: String? {
    switch self {
    case .permissionDenied(let reason, let path):
      "The rules do not allow this at \(path)\(reason.isEmpty ? "" : ": \(reason)"). Sign in, or change the rules."
    case .unavailable(let reason): "The database cannot do this now: \(reason) Try again later."
    case .writeCanceled: "The write was withdrawn by purgeOutstandingWrites() before the server answered."
    case .stale: "The value is another than the write was made for. Read it and try again."
    case .maxRetries: "The value changed under the transaction 25 times. Try again later, or split the value."
    case .overriddenBySet: "The transaction ended because a value was set at, above or below its place."
    case .disconnected: "The connection was lost before the transaction was answered; it may have been done. Read the value."
    case .invalidPath(let reason), .invalidData(let reason), .invalidQuery(let reason): reason
    case .notConfigured: "The app is not configured: call FirebaseApp.configure() first."
    case .offline: "client offline with no active listeners and no matching disk cache entries"
    case .timedOut: "The server has not answered in time. The write is kept and goes on."
    case .failed(let status, let reason): "The database refused: \(status)\(reason.isEmpty ? "" : " (\(reason))")."
    }
  }

  init(_ refusal: Refusal, at place: String) {
    self =
      switch refusal.status {
      case "permission_denied":
        .permissionDenied(reason: refusal.reason == "Permission denied" ? "" : refusal.reason, path: place)
      case "unavailable": .unavailable(refusal.reason)
      case "write_canceled": .writeCanceled
      case "datastale": .stale
      case "maxretry": .maxRetries
      case "set": .overriddenBySet
      case "disconnect": .disconnected
      case "offline": .offline
      default: .failed(status: refusal.status, reason: refusal.reason)
      }
  }
}
