import APISupport
import CoreMetrics
import Crypto
import HTTPServer
import NIOCore
import NIOHTTP1
import NIOPosix
import StorageCore
import TreeDatabase
import TreeModel

extension TreeRoutes {
  /// How long the answer to a keyed request is kept: 24 hours, in milliseconds.
  private static let idempotencyLifetime: Int64 = 86_400_000
  /// How long `X-Doubloon-Wait: effects` waits.
  private static let effectsTimeoutMilliseconds: Int64 = 30_000

  /// Bytes of a body that are parsed on the event loop; a larger one moves to a thread that may take its time.
  static let eagerBytesMax = 64 << 10

  /// Hands a PUT, PATCH, POST or DELETE to the writer; the answer follows when it is durable.
  func write(_ call: TreeRequest, sent: HTTPRequest, sink: ResponseSink) throws(APIError) {
    guard services.access.mayWrite(call.target.path, in: call.namespace, as: call.caller) else { throw .permissionDenied }
    guard let body = sent.body, body.readableBytes > Self.eagerBytesMax else {
      return try prepare(call, sent: sent, sink: sink)
    }
    guard mightWrite(call) else { throw .permissionDenied }
    services.threadPool.submit { state in
      guard case .active = state else {
        return sink.send(APIError(.serviceUnavailable, "unavailable", "The server is shutting down.").treeResponse)
      }
      do throws(APIError) {
        try prepare(call, sent: sent, sink: sink)
      } catch {
        sink.send(error.treeResponse)
      }
    }
  }

  private func prepare(_ call: TreeRequest, sent: HTTPRequest, sink: ResponseSink) throws(APIError) {
    // Everything that can be wrong with the request itself is found before a namespace is made for it.
    // Who may write and not read learns nothing by a condition that does not hold.
    let showsPresentValue =
      call.ifMatch == nil
      || services.access.decideRead(call.target.path, query: nil, in: call.namespace, as: call.caller).isAllowed
    let plan = try WritePlan(
      call, body: sent.body, showsPresentValue: showsPresentValue, bounds: services.database.limits.bounds, pushID: pushIDs.next
    )
    let idempotency = try call.idempotencyKey.map { (key) throws(APIError) in
      try Self.idempotency(key, plan: plan, uri: sent.uri, body: sent.body)
    }
    if call.waitsForEffects, services.effects == nil {
      throw APIError(.notImplemented, "not_available", "X-Doubloon-Wait is not available: this server runs no functions.")
    }
    let isDivided =
      plan.divisible.map { ChunkedWrite.isNeeded(for: $0.node, at: $0.path, limits: services.database.limits) } ?? false
    namespaces.open(call.namespace) { result in
      switch result {
      case .success(let namespace) where isDivided:
        divide(plan, request: request(plan, in: namespace, idempotency: nil), sink: sink)
      case .success(let namespace): submit(plan, in: namespace, idempotency: idempotency, sink: sink)
      case .failure(let error): sink.send(error.treeResponse)
      }
    }
  }

  private func submit(
    _ plan: WritePlan, in namespace: NamespaceID, idempotency: CommitRequest.Idempotency?, sink: ResponseSink
  ) {
    var request = request(plan, in: namespace, idempotency: idempotency)
    request.access.note = services.access.note(for: plan.call.caller, in: plan.call.namespace)
    let start = NIODeadline.now()
    services.database.submit(request) { [self, request] result in
      // On the writer: only hand it on.
      let answer: @Sendable () -> Void = {
        services.metrics.commitLatency.recordNanoseconds((NIODeadline.now() - start).nanoseconds)
        switch result {
        case .success(let receipt): finish(plan, receipt: receipt, sink: sink)
        case .failure(let error):
          // The present value may be what is too large.
          if case .tooLarge = error.code, plan.divisible != nil { return divide(plan, request: request, sink: sink) }
          sink.send(Self.response(to: error, plan: plan, because: request.access.note?.judgement?.text))
        }
      }
      // What took long to read takes long to print.
      if plan.isLarge { services.threadPool.submit { _ in answer() } } else { sink.eventLoop.execute(answer) }
    }
  }

  private func request(_ plan: WritePlan, in namespace: NamespaceID, idempotency: CommitRequest.Idempotency?)
    -> CommitRequest
  {
    let call = plan.call
    var request = CommitRequest(namespace: namespace, actor: call.caller.actor, operations: [plan.operation])
    request.access.auth = call.caller.auth
    request.log.requestID = call.requestID
    request.triggers.areSuppressed = call.parameters.suppressesTriggers
    request.ledger.isImport = call.parameters.isImport
    request.idempotency = idempotency
    request.log.audit = services.audit.treeWrite(
      plan.operation, as: call.parameters.isImport ? "data.import" : nil, by: call.caller, bytes: plan.bytes,
      in: call.namespace)
    return request
  }

  /// Writes a node that is too large for one commit in several.
  private func divide(_ plan: WritePlan, request: CommitRequest, sink: ResponseSink) {
    guard let (path, node) = plan.divisible else { preconditionFailure("Only what is divisible is divided.") }
    var common = request
    common.operations = []
    // Once, not with each of its commits.
    common.log.audit = nil
    if let record = request.log.audit { services.audit.put(record) }
    let write = ChunkedWrite(database: services.database, request: common)
    sink.eventLoop.makeFutureWithTask { () async -> HTTPResponse in
      do throws(CommitError) {
        return plan.answer(try await write.replace(path, by: node), showing: node).response
      } catch {
        return Self.response(to: error, plan: plan)
      }
    }.whenSuccess { sink.send($0) }
  }

  private func finish(_ plan: WritePlan, receipt: CommitReceipt, sink: ResponseSink) {
    if let replayed = receipt.replayed {
      guard let answer = WriteAnswer(stored: replayed.answer) else {
        return sink.send(
          .error(
            .unprocessableEntity, message: "The idempotency key was used for a request of another kind; use a key of its own."))
      }
      // Of the first request's events nothing is known any more, so a repetition does not wait for them.
      return sink.send(answer.response.adding("Idempotency-Replayed", value: "true"))
    }
    let response = plan.answer(receipt).response
    guard plan.call.waitsForEffects, let effects = services.effects else { return sink.send(response) }
    let events = receipt.events
    if events.isEmpty {
      return sink.send(response.adding("X-Doubloon-Effects", value: EffectsState.settled(unfinished: []).header))
    }
    sink.eventLoop.makeFutureWithTask {
      await effects.settled(events, timeoutMilliseconds: Self.effectsTimeoutMilliseconds)
    }.whenSuccess { state in
      // The write itself is done either way: an error here would make clients repeat it.
      sink.send(response.adding("X-Doubloon-Effects", value: state.header))
    }
  }

  private static func response(to error: CommitError, plan: WritePlan, because reasons: String? = nil) -> HTTPResponse {
    if case .permissionDenied = error.code { return APIError.permissionDenied(because: reasons).treeResponse }
    guard case .stale(let node) = error.code else { return APIError(error).treeResponse }
    guard plan.showsPresentValue else {
      return .error(.preconditionFailed, message: "The condition does not hold, and you may not read the current value.")
    }
    return HTTPResponse(
      .preconditionFailed,
      headers: [
        HTTPResponse.Header("ETag", ETag.of(node)), HTTPResponse.Header("Access-Control-Expose-Headers", "ETag"),
      ], body: node.json(plan.call.parameters.format))
  }

  /// The key belongs to its sender: guessing another's key gives no answer.
  private static func idempotency(_ key: String, plan: WritePlan, uri: String, body: ByteBuffer?) throws(APIError)
    -> CommitRequest.Idempotency
  {
    guard !key.isEmpty, key.utf8.count <= 255 else { throw .badRequest("Idempotency-Key must have 1 to 255 characters.") }
    var digest = SHA256()
    digest.update(data: Array("\(plan.call.method) \(Self.identity(of: uri))\n".utf8))
    body?.withUnsafeReadableBytes { digest.update(bufferPointer: $0) }
    return CommitRequest.Idempotency(
      key: "\(plan.call.caller.actor) \(key)", requestDigest: Array(digest.finalize()), lifetime: idempotencyLifetime
    ) { plan.answer($0).stored }
  }

  /// The URI without the parameters that may differ between a request and its repetition: tokens are renewed.
  private static func identity(of uri: String) -> String {
    guard let mark = uri.utf8.firstIndex(of: UInt8(ascii: "?")) else { return uri }
    let kept = uri[uri.index(after: mark)...].split(separator: "&").filter { parameter in
      !["auth=", "access_token=", "ac="].contains { parameter.hasPrefix($0) }
    }
    return uri[...mark] + kept.joined(separator: "&")
  }
}
