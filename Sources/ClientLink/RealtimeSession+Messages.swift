import ClientRuntime
import SyncModel
import TreeModel

extension RealtimeSession {
  /// Does what the server's message means.
  mutating func handle(_ message: ServerMessage, at now: Moment) {
    switch message {
    case .hello(let time, let host, let session, let takesKeys):
      guard link.phase == .connecting else { return }
      link.openingDeadline = nil
      link.session = session
      link.takesKeys = takesKeys
      if let host, !host.isEmpty { link.host = host }
      link.offset = time - now.wall
      tree.setLocal(ClientTree.offsetPath, to: .leaf(.int(link.offset)))
      authenticate(now)
    case .reset(let host):
      if !host.isEmpty { link.host = host }
      link.resets += 1
      if link.resets <= LinkState.resetsMax {
        link.backoff.reset()
        link.isFirstTry = true
      }
      disconnect(now, because: nil)
    case .shutdown(let reason):
      link.isInterrupted = true
      disconnect(now, because: "The server wants no more connections of this client: \(reason)")
    case .answer(let number, let answer):
      guard let request = link.inflight.take(number) else { return }
      self.answer(request, answer.refusal, data: answer.data, at: now)
    case .data(let changes, let tag): tree.receive(changes, tag: tag)
    case .ranges(let path, let ranges, let tag): tree.receive(ranges, at: path, tag: tag)
    case .revoked(let path, let query):
      let listened = ListenSpec(path: path, query: query ?? Query())
      tree.refuse(listened.wire, .permissionDenied)
    case .authRevoked(let reason): refuseToken(now, reason)
    case .note(let text): outputs.append(.log(isWarning: true, text))
    case .nothing: break
    }
  }

  /// The token is no longer good, or never was.
  private mutating func refuseToken(_ now: Moment, _ reason: String) {
    link.refusedTokens += 1
    if link.refusedTokens >= LinkState.refusedTokensMax {
      link.backoff.saturate()
      link.isFirstTry = false
    }
    disconnect(now, because: "The server refused the player's token: \(reason)")
    outputs.append(.refreshToken)
  }

  /// A request is answered.
  mutating func answer(_ request: LinkState.Request, _ refusal: Refusal?, data: JSON, at now: Moment) {
    switch request {
    case .auth(let isFirst):
      if let refusal { return refuseToken(now, refusal.reason.isEmpty ? refusal.status : refusal.reason) }
      link.refusedTokens = 0
      if isFirst, link.phase == .authenticating { restore(now) }
    case .listen(let listen): answer(listen, refusal, data)
    case .unlisten(let listen):
      tree.ended(listen)
      // Listens that waited for it go out before it is asked whether any is open.
      carryOut(now)
    case .write(let id):
      let put = link.puts.remove(.write(id))
      if let refusal, case .write(let write) = put?.kind {
        let line = "The write at \(write.operation.path) was refused: \(refusal.status) \(refusal.reason)"
        outputs.append(.log(isWarning: true, line))
      }
      link.heldAnswers.append((id, refusal))
    case .transaction(let id):
      link.puts.remove(.transaction(id))
      tree.answerTransaction(id, refusal)
    case .read(let id): answer(id, refusal, data)
    case .disconnect(let id): answer(id, refusal)
    case .other: break
    }
    if link.inflight.listens == 0, !tree.holdsListens { giveHeldAnswers() }
  }

  /// Gives the answers that waited for data.
  mutating func giveHeldAnswers() {
    let held = link.heldAnswers
    link.heldAnswers = []
    for (id, refusal) in held { tree.answer(id, refusal) }
  }

  private mutating func answer(_ listen: WireListen, _ refusal: Refusal?, _ data: JSON) {
    if let refusal {
      guard link.listens.contains(listen) else { return }
      tree.refuse(listen.listened, refusal)
      return
    }
    if data["w"]?.array?.contains("no_index") == true {
      let order = listen.listened.query.order.indexName
      outputs.append(
        .log(
          isWarning: true,
          "A query without an index: add \".indexOn\": \"\(order)\" at \(listen.listened.path) to the rules; until then the server "
            + "reads all children."))
    }
    tree.accept(listen)
  }

  private mutating func answer(_ id: ReadID, _ refusal: Refusal?, _ data: JSON) {
    guard let read = link.reads.first(where: { $0.id == id }) else { return }
    link.reads.removeAll { $0.id == id }
    if let refusal { return outputs.append(.read(id, .failure(ReadFailure(refusal: refusal)))) }
    guard let node = try? TreeNode(json: data, depth: read.listened.path.depth) else {
      let broken = Refusal(status: "failure", reason: ProtocolError("data that is none").description)
      return outputs.append(.read(id, .failure(ReadFailure(refusal: broken))))
    }
    outputs.append(.read(id, .success(read.listened.shown(of: node))))
  }

  private mutating func answer(_ id: DisconnectID, _ refusal: Refusal?) {
    guard let entry = link.disconnects.first(where: { $0.id == id }) else { return }
    link.disconnects.removeAll { $0.id == id }
    if refusal == nil {
      if let operation = entry.operation {
        link.remembered.remember(operation.assignments)
      } else {
        link.remembered.forget(entry.path)
      }
    }
    outputs.append(.disconnectSet(id, refusal))
  }
}
