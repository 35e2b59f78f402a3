import NIOCore
import NIOHTTP1
import NIOPosix
import StorageCore
import TreeDatabase
import TreeModel

extension TreeRoutes {
  /// Leaves that a read may touch on the event loop; a larger one moves to a thread of its own.
  private static let eagerLeavesMax = 512
  /// Leaves that one answer may hold.
  private static let leavesMax = 1_000_000

  /// What a read found.
  private enum Found {
    case node(TreeNode)
    /// Names of children, for `shallow`.
    case names([Key])
    /// More than was allowed.
    case tooMuch
  }

  /// What a read has to do, known before it starts.
  private struct Reading: Sendable {
    let namespace: NamespaceID
    let call: TreeRequest
    let query: Query?
    let shallow: (after: Key?, limit: Int?)?
  }

  /// Answers a GET.
  func read(_ call: TreeRequest, sink: ResponseSink) throws(APIError) {
    guard services.access.mayRead(call.target.path, in: call.namespace, as: call.caller) else { throw .permissionDenied }
    let parameters = call.parameters
    let shallow = parameters.isShallow ? try parameters.query.shallowWindow() : nil
    let query = parameters.isShallow ? nil : try parameters.query.parsed()
    guard let namespace = services.database.namespace(named: call.namespace) else {
      guard services.access.createsNamespaces else { throw Self.unknownNamespace(call.namespace) }
      return sink.send(Self.response(.node(.absent), to: call))
    }
    let reading = Reading(namespace: namespace, call: call, query: query, shallow: shallow)
    let (found, position) = try find(reading, limit: Self.eagerLeavesMax)
    if case .tooMuch = found { return readElsewhere(reading, sink: sink) }
    let response = Self.response(found, to: call)
    services.database.engine.whenDurable(position) { sink.send(response) }
  }

  static func unknownNamespace(_ name: String) -> APIError {
    APIError(
      .notFound, "unknown_namespace",
      "There is no database \"\(name)\" here: check the host name or the parameter ns, or create it as an administrator.")
  }

  /// Reads what is too large for the event loop on a thread that may take its time.
  private func readElsewhere(_ reading: Reading, sink: ResponseSink) {
    let deadline = reading.call.parameters.timeout.map { NIODeadline.now() + $0 }
    services.threadPool.submit { state in
      guard case .active = state else {
        return sink.send(APIError(.serviceUnavailable, "unavailable", "The server is shutting down.").treeResponse)
      }
      do throws(APIError) {
        let (found, position) = try find(reading, limit: Self.leavesMax)
        let response = Self.response(found, to: reading.call)
        if let deadline, deadline < .now() {
          throw .badRequest("The read took longer than its timeout; ask for less, or for more time.")
        }
        services.database.engine.whenDurable(position) { sink.send(response) }
      } catch {
        sink.send(error.treeResponse)
      }
    }
  }

  private func find(_ reading: Reading, limit: Int) throws(APIError) -> (result: Found, position: Int) {
    do throws(StorageError) {
      return try services.database.engine.readAhead { (snapshot) throws(StorageError) in
        if let shallow = reading.shallow, !reading.call.target.isPriority {
          return try Self.names(reading, shallow, limit: limit, in: snapshot)
        }
        return try Self.node(reading, limit: limit, in: snapshot)
      }
    } catch {
      throw APIError(error)
    }
  }

  private static func node(_ reading: Reading, limit: Int, in snapshot: any Snapshot) throws(StorageError) -> Found {
    let path = PathBytes(reading.call.target.path)
    if reading.call.target.isPriority {
      let priority = try snapshot.leaf(in: reading.namespace, at: path.priority)?.leaf.scalar
      return .node(priority.map { .leaf($0) } ?? .absent)
    }
    let leaves = try snapshot.leaves(in: reading.namespace, under: path, limit: limit + 1)
    guard leaves.count <= limit else { return .tooMuch }
    guard let node = TreeNode(leaves: leaves.lazy.map(\.leaf), at: path) else {
      throw StorageError(.damaged, "A stored path cannot be read; run doubloon ledger verify, or restore a backup.")
    }
    return .node(reading.query.map { $0.result(of: node) } ?? node)
  }

  private static func names(
    _ reading: Reading, _ window: (after: Key?, limit: Int?), limit: Int, in snapshot: any Snapshot
  ) throws(StorageError) -> Found {
    let path = PathBytes(reading.call.target.path)
    if let leaf = try snapshot.leaf(in: reading.namespace, at: path) { return .node(.leaf(leaf.leaf.scalar)) }
    let wanted = min(window.limit ?? .max, limit + 1)
    let names = try snapshot.children(in: reading.namespace, of: path, after: window.after, limit: wanted)
    return names.count > limit ? .tooMuch : .names(names)
  }
}

// MARK: - Answers

extension TreeRoutes {
  private static func response(_ found: Found, to call: TreeRequest) -> HTTPResponse {
    let parameters = call.parameters
    var headers: [HTTPResponse.Header] = []
    let isPretty = if case .pretty = parameters.printing { true } else { false }
    let body: [UInt8]
    switch found {
    case .tooMuch:
      return .error(.badRequest, "Data requested exceeds the maximum size that can be accessed with a single request.")
    case .names(let names): body = shallow(names, pretty: isPretty)
    case .node(let node):
      if call.wantsETag || call.ifNoneMatch != nil {
        let tag = ETag.of(node)
        headers.append(HTTPResponse.Header("ETag", tag))
        headers.append(HTTPResponse.Header("Access-Control-Expose-Headers", "ETag"))
        if call.ifNoneMatch.map({ node.exists ? $0 == tag : $0.isEmpty }) == true {
          return .empty(.notModified, headers: headers)
        }
      }
      body = node.json(parameters.format, pretty: isPretty)
    }
    if let name = parameters.download {
      headers.append(HTTPResponse.Header("Content-Disposition", "attachment; filename=\"\(name)\""))
    }
    if case .silent = parameters.printing { return .empty(.noContent, headers: headers) }
    guard let callback = parameters.callback else { return HTTPResponse(.ok, headers: headers, body: body) }
    return HTTPResponse(
      .ok, content: .javaScript, headers: headers, body: Array("\(callback)(".utf8) + body + Array(")".utf8))
  }

  /// `{"alice":true,"bob":true}`; `null` if there is no child.
  private static func shallow(_ names: [Key], pretty: Bool) -> [UInt8] {
    var writer = JSONWriter(pretty: pretty)
    guard !names.isEmpty else {
      writer.null()
      return writer.bytes
    }
    writer.beginObject()
    for name in names {
      writer.key(name.text)
      writer.bool(true)
    }
    writer.endObject()
    return writer.bytes
  }
}
