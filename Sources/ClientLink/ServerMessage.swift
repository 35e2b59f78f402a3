package import SyncModel
package import TreeModel

/// What the server says, in the terms of the tree.
package enum ServerMessage: Sendable {
  /// The first message: the server's time in milliseconds since 1970, the host to come back to, the session's name, and
  /// whether repeated writes may carry a key.
  case hello(time: Int64, host: String?, session: String, takesKeys: Bool)
  /// Come back, to another host.
  case reset(host: String)
  /// Go away, and do not come back.
  case shutdown(reason: String)
  /// The answer to a request.
  case answer(number: Int, Answer)
  /// Nodes that are others now; at a place that ends in ``ListenSpec/priorityKey``, a priority.
  case data([(path: Path, node: TreeNode)], tag: Int?)
  /// Ranges of a node that are others now.
  case ranges(Path, [RangeMerge], tag: Int?)
  /// A listen is taken back; nil: all listens at the place.
  case revoked(Path, Query?)
  /// The token is no longer good.
  case authRevoked(reason: String)
  /// Something for the log.
  case note(String)
  /// Nothing that matters.
  case nothing

  /// What a server makes of a request.
  package struct Answer: Sendable {
    package let status: String
    package let data: JSON

    /// Nil if it was done.
    package var refusal: Refusal? { status == "ok" ? nil : Refusal(status: status, reason: data.sentence) }
  }

  /// Values that a message may have, objects among them: two bytes of text become a value of forty.
  package static let valuesMax = 1 << 22
  /// Bytes that a session's name may have: it stands in the address of the next connection.
  private static let sessionBytesMax = 1024
  /// Ranges that a message may have: each is a look at the whole node.
  private static let rangesMax = 1024

  /// Reads a message.
  ///
  /// - Throws: ``ProtocolError`` for what is no message, and for data that is no tree. What is only unknown is ``nothing``.
  package init(_ text: [UInt8], valuesMax: Int = Self.valuesMax) throws(ProtocolError) {
    let json: JSON
    do {
      json = try JSONParser.parse(
        text, depthMax: 2 * Path.depthMax + 16, valuesMax: valuesMax, replacesLoneSurrogates: true)
    } catch {
      throw ProtocolError("a text that is no JSON (\(error))")
    }
    switch json["t"]?.string {
    case "c": self = try Self.control(json["d"] ?? .null)
    case "d": self = try Self.data(json["d"] ?? .null)
    default: throw ProtocolError("a message without a known kind")
    }
  }

  private static func control(_ json: JSON) throws(ProtocolError) -> ServerMessage {
    let data = json["d"] ?? .null
    switch json["t"]?.string {
    case "h":
      guard let time = data["ts"]?.double, time.magnitude < 1e15, let session = data["s"]?.string,
        session.utf8.count <= sessionBytesMax
      else {
        throw ProtocolError("a greeting without time and session")
      }
      let takesKeys = data["x"]?.array?.contains("k") ?? false
      return .hello(time: Int64(time), host: data["h"]?.string, session: session, takesKeys: takesKeys)
    case "r": return .reset(host: data.string ?? "")
    case "s": return .shutdown(reason: data.sentence)
    case "e": return .note("The server reports: \(data.sentence)")
    default: return .nothing
    }
  }

  private static func data(_ json: JSON) throws(ProtocolError) -> ServerMessage {
    let body = json["b"] ?? .null
    if let number = json["r"]?.int {
      guard let number = Int(exactly: number) else { throw ProtocolError("an answer with an impossible number") }
      return .answer(number: number, Answer(status: body["s"]?.string ?? "ok", data: body["d"] ?? .null))
    }
    let tag = body["t"]?.int.flatMap { Int(exactly: $0) }
    switch json["a"]?.string {
    case "d":
      guard let target = body["p"]?.string.flatMap({ try? PathTarget(parsing: $0) }) else {
        throw ProtocolError("data without a legal path")
      }
      return .data([try change(target, body["d"] ?? .null)], tag: tag)
    case "m": return .data(try merge(body), tag: tag)
    case "rm":
      let path = try path(body)
      return .ranges(path, try ranges(body["d"], at: path), tag: tag)
    case "c": return .revoked(try path(body), try query(body["q"]))
    case "ac": return .authRevoked(reason: body["d"]?.sentence ?? "")
    case "sd": return .note(body["msg"]?.sentence ?? "")
    default: return .nothing
    }
  }

  private static func path(_ body: JSON) throws(ProtocolError) -> Path {
    guard let text = body["p"]?.string, let path = try? Path(parsing: text) else {
      throw ProtocolError("data without a legal path")
    }
    return path
  }

  private static func node(_ json: JSON, at path: Path) throws(ProtocolError) -> TreeNode {
    do {
      return try TreeNode(json: json, depth: path.depth)
    } catch {
      throw ProtocolError("data that is none (\(error))")
    }
  }

  private static func merge(_ body: JSON) throws(ProtocolError) -> [(path: Path, node: TreeNode)] {
    let base = try path(body)
    var changes: [(path: Path, node: TreeNode)] = []
    for member in body["d"]?.object ?? [] {
      guard let below = try? PathTarget(parsing: member.key), base.depth + below.path.depth <= Path.depthMax else {
        throw ProtocolError("data without a legal path")
      }
      let target = PathTarget(path: base.appending(below.path), isPriority: below.isPriority)
      changes.append(try change(target, member.value))
    }
    return changes
  }

  private static func change(_ target: PathTarget, _ json: JSON) throws(ProtocolError) -> (path: Path, node: TreeNode) {
    let node = try node(json, at: target.path)
    if !target.isPriority { return (target.path, node) }
    switch node.content {
    case .absent, .leaf(.int), .leaf(.double), .leaf(.string): return (target.path.child(ListenSpec.priorityKey), node)
    case .leaf, .map: throw ProtocolError("a priority that is none")
    }
  }

  private static func ranges(_ json: JSON?, at base: Path) throws(ProtocolError) -> [RangeMerge] {
    var ranges: [RangeMerge] = []
    let sent = json?.array ?? []
    guard sent.count <= rangesMax else { throw ProtocolError("a node in \(sent.count) ranges") }
    for range in sent {
      ranges.append(
        RangeMerge(
          after: try bound(range["s"]), through: try bound(range["e"]), node: try node(range["m"] ?? .null, at: base)))
    }
    return ranges
  }

  private static func bound(_ json: JSON?) throws(ProtocolError) -> Path? {
    guard let json, !json.isNull else { return nil }
    guard let text = json.string, let path = try? Path(parsing: text) else {
      throw ProtocolError("a range whose ends are no paths")
    }
    return path
  }

  private static func query(_ json: JSON?) throws(ProtocolError) -> Query? {
    guard let json, !json.isNull else { return nil }
    guard let query = try? Query(wire: json.array?.first ?? json) else { throw ProtocolError("a query that is none") }
    return query
  }
}

extension JSON {
  /// What a server says in words, as one line of a log: no longer than a person reads, and without what would begin another line.
  fileprivate var sentence: String {
    var line = String.UnicodeScalarView()
    for letter in (string ?? "").unicodeScalars.prefix(500) {
      line.append(letter.properties.generalCategory == .control ? " " : letter)
    }
    return String(line)
  }
}
