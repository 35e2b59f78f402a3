import SyncModel
import TreeModel

extension RealtimeSession {
  mutating func sendFrame(_ frame: [UInt8], at now: Moment) {
    link.lastSent = now.uptime
    outputs.append(.send(frame))
  }

  /// Sends a request; what is too long for the protocol is answered as the server would.
  @discardableResult
  mutating func request(_ request: LinkState.Request, action: String, at now: Moment, _ body: (inout JSONWriter) -> Void)
    -> Bool
  {
    link.lastRequest += 1
    guard let frames = MessageFrames.frames(of: ClientRequest.text(link.lastRequest, action, body)) else { return false }
    link.inflight.add(request, number: link.lastRequest)
    for frame in frames { sendFrame(frame, at: now) }
    return true
  }

  // MARK: Who the player is

  /// The greeting came: the token first, if there is one.
  mutating func authenticate(_ now: Moment) {
    switch link.credential {
    case .unknown: link.phase = .greeted
    case .none: restore(now)
    case .token:
      link.phase = .authenticating
      link.openingDeadline = now.uptime + LinkState.openingPatience
      sendAuth(now, isFirst: true)
    }
  }

  mutating func sendAuth(_ now: Moment, isFirst: Bool) {
    guard case .token(let token) = link.credential else { return }
    // A token of an account has three parts; anything else is a server's credential.
    let isAccount = token.utf8.count { $0 == UInt8(ascii: ".") } == 2
    request(.auth(isFirst: isFirst), action: isAccount ? "auth" : "gauth", at: now) {
      ClientRequest.text(token, "cred", to: &$0)
    }
  }

  /// The connection can be used: listens first, then what waits, in the order of the calls.
  mutating func restore(_ now: Moment) {
    link.phase = .ready
    link.openingDeadline = nil
    link.lastTrouble = nil
    link.goodSince = now.uptime
    for listen in link.listens.inOrder { send(listen, at: now) }
    if link.listens.isEmpty { giveHeldAnswers() }
    sendPuts(now)
    sendReads(now)
    sendDisconnects(now)
    tree.setLocal(ClientTree.connectedPath, to: true)
  }

  // MARK: Requests

  mutating func send(_ listen: WireListen, at now: Moment) {
    let hash = tree.listenSent(listen)
    request(.listen(listen), action: "q", at: now) { writer in
      ClientRequest.listened(listen.listened, tag: listen.tag, to: &writer)
      ClientRequest.text(hash, "h", to: &writer)
    }
  }

  mutating func sendPuts(_ now: Moment) {
    for put in link.puts.takeUnsent() {
      let key = link.takesKeys ? put.key : nil
      switch put.kind {
      case .write(let write):
        let fits = request(.write(write.id), action: write.operation.action(onDisconnect: false), at: now) { writer in
          write.operation.write(to: &writer)
          if let key { ClientRequest.text(key, "k", to: &writer) }
        }
        if fits { outputs.append(.sent(write.id)) } else { link.tooLong.append(.write(write.id)) }
      case .transaction(let id, let path, let node, let hash):
        let fits = request(.transaction(id), action: "p", at: now) { writer in
          ClientRequest.place(path, to: &writer)
          writer.key("d")
          node.write(to: &writer, format: .export)
          ClientRequest.text(hash, "h", to: &writer)
          if let key { ClientRequest.text(key, "k", to: &writer) }
        }
        if fits { tree.transactionSent(id) } else { link.tooLong.append(.transaction(id)) }
      }
    }
    answerTooLong(now)
  }

  mutating func sendReads(_ now: Moment) {
    for index in link.reads.indices where !link.reads[index].isSent {
      link.reads[index].isSent = true
      let read = link.reads[index]
      request(.read(read.id), action: "g", at: now) { writer in
        ClientRequest.place(read.listened.path, to: &writer)
        writer.key("q")
        writer.write(read.listened.query.wire)
      }
    }
  }

  mutating func sendDisconnects(_ now: Moment) {
    for index in link.disconnects.indices where !link.disconnects[index].isSent {
      link.disconnects[index].isSent = true
      let entry = link.disconnects[index]
      request(.disconnect(entry.id), action: entry.operation?.action(onDisconnect: true) ?? "oc", at: now) { writer in
        if let operation = entry.operation { return operation.write(to: &writer) }
        ClientRequest.place(entry.path, to: &writer)
        writer.key("d")
        writer.null()
      }
    }
  }

  private mutating func answerTooLong(_ now: Moment) {
    let refusal = Refusal(status: "too_big", reason: "The data is longer than a message may be.")
    let requests = link.tooLong
    link.tooLong.removeAll()
    for request in requests { answer(request, refusal, data: .null, at: now) }
  }
}
