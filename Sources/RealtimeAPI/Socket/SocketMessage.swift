import HTTPServer
import StorageCore
import TreeModel

/// A message from a client, taken apart (firebase-js-sdk, `Connection.ts`).
enum SocketMessage {
  /// `{"t":"d","d":{"r":1,"a":"q","b":{…}}}`.
  case request(SocketRequest)
  /// `{"t":"c","d":{"t":"p","d":{}}}`: the kind of control message.
  case control(String)

  /// Values that surround the data of a write.
  private static let ownValues = 16

  /// - `valuesMax`: values that the data of a write may hold: a message of zeros and commas is not to take a dozen times
  ///   its bytes.
  /// - Throws: what is wrong with bytes that are no message; such a client cannot be answered, for there is no number to
  ///   answer to.
  init(parsing bytes: [UInt8], valuesMax: Int) throws(WebSocketError) {
    let json: JSON
    do throws(JSONError) {
      let (most, overflows) = valuesMax.addingReportingOverflow(Self.ownValues)
      json = try JSONParser.parse(
        bytes, depthMax: 80, valuesMax: overflows ? .max : most, replacesLoneSurrogates: true)
    } catch {
      if case .tooManyValues = error.reason { throw WebSocketError(.messageTooBig, "\(error)") }
      throw WebSocketError(.policyViolation, "\(error)")
    }
    guard let content = json["d"] else { throw Self.malformed }
    switch json["t"]?.string {
    case "d":
      guard let number = content["r"]?.int, let action = content["a"]?.string else { throw Self.malformed }
      self = .request(
        SocketRequest(
          number: number, action: action, body: content["b"] ?? .null, bytes: bytes.count,
          weight: Self.ownBytes + bytes.withUnsafeBytes(InputWeight.of)))
    case "c":
      guard let kind = content["t"]?.string else { throw Self.malformed }
      self = .control(kind)
    default: throw Self.malformed
    }
  }

  /// What a request takes beyond its message.
  private static let ownBytes = 512

  private static let malformed = WebSocketError(
    .policyViolation, #"A message is {"t":"d","d":{"r":number,"a":action,"b":{}}} or {"t":"c","d":{"t":kind,"d":{}}}."#)
}

/// One request of a session.
struct SocketRequest {
  /// The client's own number; the answer repeats it.
  let number: Int64
  let action: String
  let body: JSON
  /// Bytes of the message that it came in.
  let bytes: Int
  /// What it takes in memory, about.
  let weight: Int

  /// What the action is, as far as the order of requests is concerned.
  enum Kind {
    /// Goes to the writer; others may begin before it is answered, though not be answered before it.
    case write
    /// Reads the tree once: what was written before must be there, so it begins when everything before it is answered.
    case read
    /// Begins when it is looked at, and is answered when everything before it is.
    case immediate
  }

  /// Whether it costs the writer something: it is what ``SocketPace`` counts.
  var isPaced: Bool {
    switch action {
    case "p", "m": true
    default: isAboutEnd
    }
  }

  /// Whether it changes who the client is: what is registered for the end is to be written as another then.
  var isAboutCaller: Bool { ["auth", "gauth", "unauth"].contains(action) }

  /// Whether it changes what is registered for the end.
  var isAboutEnd: Bool { ["o", "om", "oc"].contains(action) }

  var kind: Kind {
    switch action {
    case "p", "m": .write
    case "g": .read
    default: .immediate
    }
  }
}

/// Why a request is answered with an error (firebase-js-sdk, `PersistentConnection.ts`).
struct SocketError: Error {
  let status: StaticString
  /// Shown to the developer.
  let message: String

  init(_ status: StaticString, _ message: String) {
    self.status = status
    self.message = message
  }

  static func failure(_ message: String) -> SocketError { SocketError("failure", message) }
  static let permissionDenied = SocketError("permission_denied", "Permission denied")
  static let unavailable = SocketError("unavailable", "The data could not be read; try again.")
  static let tooMuch = SocketError(
    "too_big", "Data requested exceeds the maximum size that can be accessed with a single request.")
}

extension SocketError {
  /// What a client is told of data that cannot be written.
  init(_ error: WriteDataError) {
    if case .tooLarge = error.code { self.init("too_big", error.description) } else { self = .failure(error.description) }
  }

  /// What a client is told of a write that was refused.
  init(_ error: CommitError) {
    switch error.code {
    case .stale: self.init("datastale", "Transaction hash does not match")
    case .permissionDenied: self = .permissionDenied
    case .tooLarge, .triggersExceeded: self.init("too_big", error.message)
    case .overloaded, .unavailable: self.init("unavailable", error.message)
    default: self = .failure(error.message)
    }
  }
}
