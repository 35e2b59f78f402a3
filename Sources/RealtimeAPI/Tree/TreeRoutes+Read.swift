import APISupport
import HTTPServer
import NIOCore
import NIOHTTP1
import NIOPosix
import StorageCore
import TreeDatabase
import TreeModel

extension TreeRoutes {
  /// How long a read may take that names no timeout, which may be as long at most (Firebase's REST reference, query
  /// parameters).
  private static let timeoutMax = TimeAmount.minutes(15)

  /// What a read found.
  private enum Found {
    case node(TreeNode)
    /// Names of children, for `shallow`.
    case names([Key])
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
    let parameters = call.parameters
    let shallow = parameters.isShallow ? try parameters.query.shallowWindow() : nil
    let query = parameters.isShallow ? nil : try parameters.query.parsed()
    try checkMayRead(call, query: query)
    guard let namespace = services.database.namespace(named: call.namespace) else {
      guard services.access.createsNamespaces else { throw .unknownNamespace(call.namespace) }
      if let query, query.order != .key, query.order != .priority { throw missingIndex(query, call: call) }
      return sink.send(Self.response(.node(.absent), to: call))
    }
    if let query, !services.database.reader.isIndexed(query.order, at: call.target.path, in: namespace) {
      throw missingIndex(query, call: call)
    }
    let reading = Reading(namespace: namespace, call: call, query: query, shallow: shallow)
    do throws(TreeReadError) {
      try answer(reading, within: .brief, sink: sink, turn: nil)
    } catch {
      guard case .tooLarge = error else { throw Self.apiError(error) }
      readElsewhere(reading, sink: sink)
    }
  }

  private func checkMayRead(_ call: TreeRequest, query: Query?) throws(APIError) {
    let decision = services.access.decideRead(call.target.path, query: query, in: call.namespace, as: call.caller)
    guard !decision.isAllowed else { return }
    throw decision.isUnavailable ? .notReadable : denied(call, query: query)
  }

  /// The refusal of a read; for those who may know, with the reasons.
  func denied(_ call: TreeRequest, query: Query?) -> APIError {
    .permissionDenied(
      because: services.access.reasons(ofDenying: call.caller, at: call.target.path, query: query, in: call.namespace))
  }

  func missingIndex(_ query: Query, call: TreeRequest) -> APIError {
    let namespace = services.database.namespace(named: call.namespace)
    return .badRequest(services.missingIndex(query.order, at: call.target.path, in: namespace).message)
  }

  private static func apiError(_ error: TreeReadError) -> APIError {
    switch error {
    case .storage(let error): APIError(error)
    case .tooLarge: .tooMuchToRead
    case .stopped: .badRequest("The read took longer than its timeout; ask for less, or for more time.")
    }
  }

  /// Reads what is too large for the event loop on a thread that may take its time.
  private func readElsewhere(_ reading: Reading, sink: ResponseSink) {
    var bounds = reading.call.caller.isAdmin ? ReadBounds.generous : ReadBounds.standard
    let deadline = NIODeadline.now() + (reading.call.parameters.timeout ?? Self.timeoutMax)
    let presence = sink.presence
    bounds.isUnwanted = { NIODeadline.now() > deadline || presence.hasGone }
    let isTaken = services.largeAnswers.submit(for: presence) { [bounds] turn in
      guard let turn else {
        return sink.send(APIError(.serviceUnavailable, "unavailable", "The server is shutting down.").treeResponse)
      }
      do throws(TreeReadError) {
        try answer(reading, within: bounds, sink: sink, turn: turn)
      } catch {
        sink.send(Self.apiError(error).treeResponse)
      }
    }
    if !isTaken { sink.send(Self.tooManyLargeReads.treeResponse) }
  }

  private static let tooManyLargeReads = APIError(
    .serviceUnavailable, "unavailable", "Too many large reads wait already: try again in a few seconds, or ask for less.",
    headers: [HTTPResponse.Header("Retry-After", "5")])

  private static let takenBack = APIError(
    .serviceUnavailable, "unavailable", "What was read was never kept: another node leads by now. Try again in a moment.",
    headers: [HTTPResponse.Header("Retry-After", "1")])

  /// Sends what the reading finds, once everything that it showed is durable.
  private func answer(_ reading: Reading, within bounds: ReadBounds, sink: ResponseSink, turn: LargeAnswers.Turn?)
    throws(TreeReadError)
  {
    let (found, position) = try find(reading, within: bounds)
    let response = Self.response(found, to: reading.call)
    services.database.engine.whenDurable(position) { isDurable in
      sink.send(isDurable ? response : Self.takenBack.treeResponse, keeping: turn)
    }
  }

  private func find(_ reading: Reading, within bounds: ReadBounds) throws(TreeReadError) -> (result: Found, position: Int) {
    let reader = services.database.reader
    let namespace = reading.namespace
    let target = reading.call.target
    return try services.database.engine.readAhead { (snapshot) throws(TreeReadError) in
      if target.isPriority {
        return .node(try reader.priority(at: target.path, in: namespace, of: snapshot).map { .leaf($0) } ?? .absent)
      }
      if let shallow = reading.shallow {
        if let leaf = try reader.leaf(at: target.path, in: namespace, of: snapshot) { return .node(.leaf(leaf)) }
        return .names(
          try reader.childNames(
            at: target.path, in: namespace, of: snapshot, after: shallow.after, limit: shallow.limit, within: bounds))
      }
      guard let query = reading.query else {
        return .node(try reader.node(at: target.path, in: namespace, of: snapshot, within: bounds))
      }
      return .node(try reader.result(of: query, at: target.path, in: namespace, of: snapshot, within: bounds).node)
    }
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

extension TreeRoutes {
  /// Answers a GET that accepts `text/event-stream`: the same admission as any GET, then events for as long as it lasts
  /// (Firebase's REST reference, streaming).
  func stream(_ call: TreeRequest, sink: ResponseSink) throws(APIError) {
    let parameters = call.parameters
    let query = try parameters.query.parsed()
    try checkMayRead(call, query: query)
    guard !parameters.isShallow, parameters.callback == nil else {
      throw .badRequest("shallow and callback do not go with event streams; leave them out.")
    }
    guard !call.target.isPriority else {
      throw .badRequest("A .priority cannot be streamed; stream its node with format=export.")
    }
    let services = services
    let streams = streams
    namespaces.open(call.namespace) { result in
      switch result {
      case .failure(let error): sink.send(error.treeResponse)
      case .success(let namespace):
        if let query, !services.database.reader.isIndexed(query.order, at: call.target.path, in: namespace) {
          return sink.send(missingIndex(query, call: call).treeResponse)
        }
        let request = ListenRequest(
          namespace: namespace, path: call.target.path, query: query, format: parameters.format)
        sink.stream(limitedBy: streams) { opening in
          let admission = ListenAdmission(
            services, namespaceName: call.namespace, namespace: namespace, path: call.target.path, query: query,
            eventLoop: sink.eventLoop)
          return EventStream(
            streams: streams, request: request, caller: call.caller, opening: opening, admission: admission)
        }
      }
    }
  }
}
