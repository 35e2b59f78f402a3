import HTTPServer
import TreeModel

/// A message from a client, taken apart (spec: rtdb-protocol §3.3, §3.4).
enum SocketMessage {
  /// `{"t":"d","d":{"r":1,"a":"q","b":{…}}}`.
  case request(SocketRequest)
  /// `{"t":"c","d":{"t":"p","d":{}}}`: the kind of control message.
  case control(String)

  /// Values that surround the data of a write.
  private static let ownValues = 16

  /// - Parameter valuesMax: values that the data of a write may hold: a message of zeros and commas is not to take a dozen times
  ///   its bytes.
  /// - Throws: what is wrong with bytes that are no message; such a client cannot be answered, for there is no number to
  ///   answer to.
  init(parsing bytes: [UInt8], valuesMax: Int) throws(WebSocketFault) {
    let json: JSON
    do throws(JSONError) {
      let (most, overflows) = valuesMax.addingReportingOverflow(Self.ownValues)
      json = try JSONParser.parse(
        bytes, depthMax: 80, valuesMax: overflows ? .max : most, replacesLoneSurrogates: true)
    } catch {
      if case .tooManyValues = error.reason { throw WebSocketFault(.messageTooBig, "\(error)") }
      throw WebSocketFault(.policyViolation, "\(error)")
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

  private static let malformed = WebSocketFault(
    .policyViolation, #"A message is {"t":"d","d":{"r":number,"a":action,"b":{}}} or {"t":"c","d":{"t":kind,"d":{}}}."#)
}
