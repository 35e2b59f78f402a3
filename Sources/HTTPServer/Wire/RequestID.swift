import Synchronization

/// What one request is called: by its client, with the header `X-Request-ID`, or else by the server.
///
/// A client that names its request finds the name in the answer's header, in the log, in the audit log and, of a write into the
/// tree, in the commit. The server's own name is three numbers until somebody asks for it: a request that nobody asks about, and
/// that names nothing, has no text made and no byte of its answer changed.
package struct RequestID: Sendable {
  /// Characters that a name may have.
  static let lengthMax = 128

  /// Which process, connection and request of it this is.
  struct Place: Sendable {
    /// When the process's server was made: it tells two processes apart.
    var process: Int64 = 0
    var connection = 0
    var request = 0

    /// Such as `18bcfe56800-1f-3`.
    var text: String {
      String(process, radix: 16) + "-" + String(connection, radix: 16) + "-" + String(request, radix: 16)
    }
  }

  var place = Place()
  /// Whether the head may hold a name: of most requests it is known that it does not.
  var mayBeNamed = true

  /// The name that a head gives, if it is well-formed.
  func named(in head: RequestHead) -> String? {
    guard mayBeNamed, let name = head.first("x-request-id"), Self.isWellFormed(name) else { return nil }
    return name
  }

  /// Whether a name can be put into headers and logs as it is: 1 to 128 letters, digits and `-._~:/+=@`.
  static func isWellFormed(_ name: String) -> Bool {
    (1...lengthMax).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (97...122).contains(byte | 0x20) || "-._~:/+=@".utf8.contains(byte)
      }
  }
}

extension HTTPRequest {
  /// What the request is called, for answers and logs: by its client, or by the server. Made at each look.
  package var requestID: String { givenID ?? id.place.text }

  /// What its client calls it; nil if it does not, or not in a way that can be repeated.
  package var givenID: String? { id.named(in: head) }
}

/// Numbers connections, so that requests can be told apart.
final class ConnectionNumbers: Sendable {
  private let process: Int64
  private let last = Atomic<Int>(0)

  /// - Parameter now: milliseconds since 1970.
  init(at now: Int64) {
    process = now
  }

  /// The place of a new connection's requests, before the first.
  func next() -> RequestID.Place {
    RequestID.Place(process: process, connection: last.add(1, ordering: .relaxed).newValue)
  }
}
