import ClientRuntime
package import SyncModel
package import TreeModel

/// A client's session with a realtime database: its tree, and the connection over which that is kept in step.
///
/// A pure state machine: every call is told the time, and leaves outputs for the caller to carry out in their order. Nothing
/// that a server says can make it trap; what is no message of the protocol ends the connection, and a later one is tried.
package struct RealtimeSession: ~Copyable, Sendable {
  /// Which database.
  package struct Target: Sendable {
    /// Empty is the server's own.
    package let namespace: String
    /// The app's id, which the server logs; may be empty.
    package let appID: String

    package init(namespace: String, appID: String = "") {
      self.namespace = namespace
      self.appID = appID
    }
  }

  package var tree = ClientTree()
  var link: LinkState
  var outputs: [SessionOutput] = []
  let target: Target
  /// The key of the write that is being restored.
  private var restoredKey: String?
  /// The keys of writes that are kept, and about to be sent.
  private var keys: [WriteID: String] = [:]

  /// - `seed`: for waiting times.
  /// - `name`: two random numbers, by which the server knows this client's writes again.
  package init(_ target: Target, seed: UInt64, name: (UInt64, UInt64)) {
    self.target = target
    link = LinkState(seed: seed, name: name)
  }

  /// What is to be done since the last call.
  package mutating func takeOutputs() -> [SessionOutput] {
    defer { outputs.removeAll() }
    return outputs
  }

  /// Whether requests are sent as they come.
  package var isConnected: Bool { link.phase == .ready }

  /// The server's time as it is thought to be, in milliseconds since 1970.
  package func serverTime(_ now: Moment) -> Int64 { now.wall + link.offset }
}

// MARK: What the app asks for

extension RealtimeSession {
  package mutating func listen(_ listened: ListenSpec, to kinds: Set<TreeEventKind>, at now: Moment) -> ListenerID {
    let id = tree.listen(listened, to: kinds)
    carryOut(now)
    return id
  }

  package mutating func unlisten(_ id: ListenerID, at now: Moment) {
    tree.unlisten(id)
    carryOut(now)
  }

  /// Writes. The outputs say what becomes of it.
  @discardableResult
  package mutating func write(_ operation: WriteOperation, at now: Moment) -> WriteID {
    let id = tree.write(operation, now: serverTime(now))
    carryOut(now)
    return id
  }

  /// Writes again what an earlier run of the app left pending.
  ///
  /// - `key`: the one that it had then.
  package mutating func restore(_ operation: WriteOperation, key: String, at now: Moment) -> WriteID {
    restoredKey = key
    return write(operation, at: now)
  }

  package mutating func purgeWrites(_ now: Moment) {
    link.puts.removeAll()
    link.heldAnswers.removeAll()
    link.inflight.forgetPuts()
    tree.purgeWrites()
    carryOut(now)
  }

  package mutating func beginTransaction(_ path: Path, showsGuesses: Bool, at now: Moment) -> TransactionID {
    let id = tree.beginTransaction(path, showsGuesses: showsGuesses)
    carryOut(now)
    return id
  }

  package mutating func transactionRan(_ id: TransactionID, output: TreeNode?, at now: Moment) {
    tree.transactionRan(id, output: output, now: serverTime(now))
    carryOut(now)
  }

  /// Asks the server once.
  package mutating func read(_ listened: ListenSpec, at now: Moment) -> ReadID {
    link.lastRead += 1
    let id = ReadID(number: link.lastRead)
    link.reads.append(LinkState.Read(id: id, listened: listened, deadline: now.uptime + LinkState.readPatience))
    if isConnected { sendReads(now) }
    settle(now)
    return id
  }

  /// Says what the server is to do when it loses this client; nil: at the place and below nothing any more.
  package mutating func onDisconnect(_ path: Path, _ operation: WriteOperation?, at now: Moment) -> DisconnectID {
    link.lastDisconnect += 1
    let id = DisconnectID(number: link.lastDisconnect)
    link.disconnects.append(LinkState.DisconnectRequest(id: id, operation: operation, path: path))
    if isConnected { sendDisconnects(now) }
    settle(now)
    return id
  }

  /// Stops, or starts, having a connection. Who wants one and waits for the next try waits no longer: the app knows when the
  /// network is another, or the player is back.
  package mutating func setOnline(_ isOnline: Bool, at now: Moment) {
    if !isOnline, link.isInterrupted { return }
    link.isInterrupted = !isOnline
    if isOnline {
      link.backoff.reset()
      if case .closed = link.phase { link.phase = .closed(notBefore: now.uptime) }
    } else {
      disconnect(now, because: nil)
    }
    carryOut(now)
  }

  /// Who the player is: nil is nobody.
  package mutating func setToken(_ token: String?, at now: Moment) {
    let credential = token.map { LinkState.Credential.token($0) } ?? .none
    if credential == link.credential { return }
    let wasToken = link.credential != .none && link.credential != .unknown
    link.credential = credential
    switch link.phase {
    case .greeted: authenticate(now)
    case .ready, .authenticating:
      if token != nil { sendAuth(now, isFirst: false) } else if wasToken { request(.other, action: "unauth", at: now) { _ in } }
    case .closed, .connecting: break
    }
    carryOut(now)
  }
}

// MARK: What the tree asks for

extension RealtimeSession {
  /// Carries out what the tree wants done, and looks at what is due.
  mutating func carryOut(_ now: Moment) {
    var effects = tree.takeEffects()
    while !effects.isEmpty {
      for effect in effects { carryOut(effect, at: now) }
      effects = tree.takeEffects()
    }
    settle(now)
  }

  private mutating func carryOut(_ effect: SyncEffect, at now: Moment) {
    switch effect {
    case .listen(let listen):
      link.listens.append(listen)
      if isConnected { send(listen, at: now) }
    case .unlisten(let listen):
      link.listens.remove(listen)
      guard isConnected else { return }
      let isSent = request(.unlisten(listen), action: "n", at: now) {
        ClientRequest.listened(listen.listened, tag: listen.tag, to: &$0)
      }
      if isSent { tree.unlistenSent(listen) }
    case .keep(let write):
      let key = nextKey()
      keys[write.id] = key
      outputs.append(.pending(write, key: key))
    case .send(let write):
      link.puts.append(Put(kind: .write(write), key: keys.removeValue(forKey: write.id) ?? nextKey()))
      if isConnected { sendPuts(now) }
    case .sendTransaction(let id, let path, let node, let hash):
      link.puts.append(Put(kind: .transaction(id, path: path, node: node, hash: hash), key: nextKey()))
      if isConnected { sendPuts(now) }
    case .event(let id, let event): outputs.append(.event(id, event))
    case .cancelled(let id, let refusal): outputs.append(.cancelled(id, refusal))
    case .written(let id, let refusal): outputs.append(.written(id, refusal))
    case .run(let id): outputs.append(.run(id))
    case .finished(let id, let result):
      link.puts.remove(.transaction(id))
      outputs.append(.finished(id, result))
    }
  }

  private mutating func nextKey() -> String {
    if let key = restoredKey {
      restoredKey = nil
      return key
    }
    link.lastPut += 1
    return "\(link.name)-\(link.lastPut)"
  }
}
