import APISupport
import HTTPServer
import NIOCore
import NIOHTTP1
import StorageCore
import TreeModel

/// What a write request asks for, and how its answer will look.
final class WritePlan: Sendable {
  /// What the answer shows.
  private enum Echo: Sendable {
    /// The written node, server values filled in.
    case node
    /// The update as it was sent; its server values filled in, if it has any.
    case patch(JSON)
    /// The name of the new child.
    case name(Key)
    case null
  }

  let call: TreeRequest
  let operation: WriteOperation
  /// Whether a condition that does not hold may show the present value.
  let showsPresentValue: Bool
  /// How much was sent.
  let bytes: Int
  private let echo: Echo

  /// - `showsPresentValue`: whether a condition that does not hold may show the present value.
  /// - `bounds`: how much one commit takes; what is written in several has none.
  /// - `pushID`: makes the name of a child that POST adds.
  init(
    _ call: TreeRequest, body: ByteBuffer?, showsPresentValue: Bool = true, bounds: WriteBounds = .none, pushID: () -> Key
  ) throws(APIError) {
    let bounds = call.parameters.isUnlimited ? .none : bounds
    self.call = call
    self.showsPresentValue = showsPresentValue
    bytes = body?.readableBytes ?? 0
    switch call.method {
    case .get: preconditionFailure("A GET is no write.")
    case .put:
      operation = try Self.put(call, json: try Self.json(body, bounds: bounds, isPatch: false), bounds: bounds)
      echo = .node
    case .post:
      let name = pushID()
      let path = call.target.path.child(name)
      let json = try Self.json(body, bounds: bounds, isPatch: false)
      operation = try Self.checked { () throws(WriteDataError) in
        try .set(PathTarget(path: path), json: json, bounds: bounds)
      }
      echo = .name(name)
    case .patch:
      let json = try Self.json(body, bounds: bounds, isPatch: true)
      // The command line tools delete with a PATCH of null (firebase-tools, `removeRemote.ts`).
      operation =
        json.isNull
        ? .remove(call.target.path)
        : try Self.checked { () throws(WriteDataError) in try .update(call.target.path, json: json, bounds: bounds) }
      echo = .patch(json)
    case .delete:
      operation = Self.delete(call)
      echo = .null
    }
  }

  private static func put(_ call: TreeRequest, json: JSON, bounds: WriteBounds) throws(APIError) -> WriteOperation {
    let target = call.target
    guard let expected = call.ifMatch else {
      return try checked { () throws(WriteDataError) in try .set(target, json: json, bounds: bounds) }
    }
    let set = try checked { () throws(WriteDataError) in
      try WriteOperation.set(PathTarget(path: target.path), json: json, bounds: bounds)
    }
    return set.expecting(dataHash: expected)
  }

  private static func delete(_ call: TreeRequest) -> WriteOperation {
    let path = call.target.path
    if call.target.isPriority { return .setPriority(path, priority: .scalar(nil)) }
    if let expected = call.ifMatch { return .compareAndSet(path, expectedHash: expected, node: .absent) }
    return .remove(path)
  }

  private static func checked<Value>(_ body: () throws(WriteDataError) -> Value) throws(APIError) -> Value {
    do throws(WriteDataError) {
      return try body()
    } catch {
      throw APIError(error)
    }
  }

  /// The body as JSON; the texts are the hosted service's (Firebase's REST reference, error conditions).
  private static func json(_ body: ByteBuffer?, bounds: WriteBounds, isPatch: Bool) throws(APIError) -> JSON {
    let result = body?.withUnsafeReadableBytes { bytes in
      Result { () throws(JSONError) -> JSON in try JSONParser.parse(bytes, valuesMax: bounds.valuesMax) }
    }
    let badPatch = "Invalid data; couldn't parse JSON object. Are you sending a JSON object with valid key names?"
    switch result {
    case .success(let json):
      guard isPatch, json.object == nil, !json.isNull else { return json }
      throw .badRequest(badPatch)
    case nil: throw .badRequest("Error: No data supplied.")
    case .failure(let error) where error.reason == .empty: throw .badRequest("Error: No data supplied.")
    case .failure(let error) where error.reason == .tooManyValues: throw APIError(WriteDataError(.tooLarge))
    case .failure:
      throw .badRequest(isPatch ? badPatch : "Invalid data; couldn't parse JSON object, array, or value.")
    }
  }
}

extension WritePlan {
  /// Whether reading and printing the data would hold up an event loop.
  var isLarge: Bool { bytes > TreeRoutes.eagerBytesMax }

  /// What replaces a whole node (a PUT, a DELETE, a PATCH of null), if it may be written in several commits: an administrator
  /// asked for it, and nothing in it or about it depends on the present value.
  var divisible: (path: Path, node: TreeNode)? {
    guard call.parameters.isUnlimited, call.method != .post, !call.target.isPriority, call.ifMatch == nil,
      call.idempotencyKey == nil, !call.waitsForEffects, operation.assignments.count == 1,
      let assignment = operation.assignments.first, assignment.path == call.target.path,
      case .node(let write) = assignment.value, write.slots.isEmpty
    else { return nil }
    return (call.target.path, write.node)
  }
}

// MARK: - The answer

extension WritePlan {
  /// The answer to a write that is durable.
  ///
  /// - `written`: what a PUT wrote that took several commits; without it the receipt says so.
  func answer(_ receipt: CommitReceipt, showing written: TreeNode? = nil) -> WriteAnswer {
    let node = written ?? receipt.resolved.first ?? .absent
    var tag: String?
    // Clients read it after every conditional write (Firebase's REST reference, conditional requests).
    if call.wantsETag || call.ifMatch != nil { tag = ETag.of(node) }
    if case .silent = call.parameters.printing { return WriteAnswer(status: 204, etag: tag, body: []) }
    let isPretty = if case .pretty = call.parameters.printing { true } else { false }
    var writer = JSONWriter(pretty: isPretty)
    switch echo {
    case .null: writer.null()
    case .name(let key):
      writer.beginObject()
      writer.key("name")
      writer.string(key.text)
      writer.endObject()
    case .node: node.write(to: &writer, format: call.parameters.format)
    case .patch(let json): if hasServerValues { write(receipt.resolved, to: &writer) } else { writer.write(json) }
    }
    return WriteAnswer(status: 200, etag: tag, body: writer.bytes)
  }

  private var hasServerValues: Bool {
    operation.assignments.contains { assignment in
      switch assignment.value {
      case .node(let node): !node.slots.isEmpty
      case .priority(.server): true
      case .priority(.scalar): false
      }
    }
  }

  /// The update with what its server values became.
  private func write(_ resolved: [TreeNode], to writer: inout JSONWriter) {
    writer.beginObject()
    for (assignment, node) in zip(operation.assignments, resolved) {
      var names = assignment.path.keys.dropFirst(call.target.path.depth).map(\.text)
      if case .priority = assignment.value { names.append(".priority") }
      writer.key(names.joined(separator: "/"))
      node.write(to: &writer, format: call.parameters.format)
    }
    writer.endObject()
  }
}
