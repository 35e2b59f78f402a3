import APISupport
import CoreMetrics
import HTTPServer
import NIOCore
import StorageCore
import TreeDatabase
import TreeModel

extension SocketSession {
  /// Takes credentials: an ID token (`auth`), or anything else (`gauth`: an OAuth token, a secret, `owner`).
  ///
  /// Earlier requests were judged as the earlier caller. After a refusal the client closes, gets another token, and reconnects.
  func authenticate(_ request: SocketRequest) throws(SocketError) {
    guard let credential = request.body["cred"]?.string else {
      throw SocketError("invalid_token", "The request has no credential: cred must be a string.")
    }
    let override: String? =
      request.body["noauth"]?.bool == true
      ? "null"
      : request.body["authvar"].map { variable in
        var writer = JSONWriter()
        writer.write(variable)
        return String(decoding: writer.bytes, as: UTF8.self)
      }
    let found: Caller
    do throws(AccessError) {
      found = try services.authenticator.caller(
        request.action == "auth"
          ? RequestCredentials(idToken: credential, override: override, isForeign: isForeign)
          : RequestCredentials(accessToken: credential, override: override, isForeign: isForeign)
      ).onTree()
    } catch {
      throw SocketError(error.isTemporary ? "unavailable" : "invalid_token", error.message)
    }
    become(found)
    reply(
      SocketAnswers.ok(request.number) { writer in
        guard case .user(let uid) = found.actor else { return writer.raw(#"{"auth":null}"#) }
        writer.raw(#"{"auth":{"uid":"#)
        writer.string(uid)
        writer.raw("}}")
      })
  }

  /// Changes the user of the session, and judges its listens again.
  func become(_ caller: Caller) {
    guard caller != self.caller else { return }
    self.caller = caller
    keepCaller(blocks: true)
    reviewListens()
    watchRevocation()
    watchExpiry()
  }

  /// Subscribes to the revocation of the caller's credentials.
  func watchRevocation() {
    if let userRegistration { services.connectedUsers.remove(userRegistration) }
    let reference = reference
    userRegistration = services.connectedUsers.add(caller) { effectiveAt in
      reference.run { session in session.look(effectiveAt: effectiveAt) }
    }
  }

  /// Looks whether the caller is void: now, and when the grace is over in which the client may bring another token.
  private func look(effectiveAt: Int64) {
    guard isOpen else { return }
    if services.authenticator.isVoid(caller) { return expire() }
    let left = effectiveAt - services.database.clock.now()
    guard left > 0 else { return }
    let session = NIOLoopBound(self, eventLoop: eventLoop)
    eventLoop.scheduleTask(in: .milliseconds(min(left, 60_000))) { session.value.look(effectiveAt: effectiveAt) }
  }

  /// Looks at the end of the credentials when it should have come; the wall clock may have been moved until then.
  ///
  /// And whether they are void before their end: a client that signs in with an old token during the grace period of a revocation is not told again.
  private func watchExpiry() {
    expiry?.cancel()
    expiry = nil
    if services.authenticator.isVoid(caller) { return expire() }
    guard let end = caller.validUntil else { return }
    let left = end - services.database.clock.now()
    guard left > 0 else { return expire() }
    let session = NIOLoopBound(self, eventLoop: eventLoop)
    expiry = eventLoop.scheduleTask(in: .milliseconds(min(left, 60_000))) { session.value.watchExpiry() }
  }

  /// The client is told, closes, and comes again with another token and all its listens: so those that it may no longer have
  /// end without a message (firebase-js-sdk, `PersistentConnection.ts`).
  func expire() {
    guard isOpen else { return }
    caller = .anonymous
    keepCaller(blocks: false)
    watchRevocation()
    tell(SocketAnswers.credentialRevoked("expired_token", message: "Auth token is expired"))
    for listen in listens.all where !admits(listen.admission, id: listen.id) {
      answer(listen) { SocketAnswers.refused($0, .permissionDenied) }
      drop(listen)
    }
  }
}

/// How a session takes part in the server's memory, and in its writers' time.
extension SocketSession {
  /// What a leaf that is registered for the end takes beyond what was sent.
  private static let leafBytes = 128

  private static let memoryIsShort = WebSocketError(
    .tryAgainLater, "The server takes in as much as it can at once: connect again, or send less at a time.")

  /// Counts the requests that wait, and what is registered for the end: that is given up with the session, if need be.
  func holdWaiting() {
    guard isWaiting else { return }
    let registered = disconnectBytes + disconnect.leafCount * Self.leafBytes
    let bytes = pendingWeight + (successor?.earlyWeight ?? 0) + registered
    guard waitingShare != nil || bytes >= ByteShare.step else { return }
    let reference = reference
    let share =
      waitingShare
      ?? services.memory.input.share(of: client) { reference.run { session in session.end(Self.memoryIsShort) } }
    waitingShare = share
    if !share.hold(bytes, as: caller.standing) { end(Self.memoryIsShort) }
  }

  /// Counts a request that is worked on from now on until ``didWork(_:)``.
  func willWork(_ request: SocketRequest) throws(SocketError) {
    workWeight += request.weight
    guard holdWork() else {
      end(Self.memoryIsShort)
      throw SocketError("unavailable", Self.memoryIsShort.reason)
    }
  }

  func didWork(_ weight: Int) {
    workWeight -= weight
    _ = holdWork()
  }

  private func holdWork() -> Bool {
    guard workShare != nil || workWeight >= ByteShare.step else { return true }
    let share = workShare ?? services.memory.input.share(of: client) {}
    workShare = share
    return share.hold(workWeight, as: caller.standing, isReleasable: false)
  }

  private var isWaiting: Bool {
    switch phase {
    case .opening, .open: true
    case .ending, .ended: false
    }
  }

  /// Takes what a request costs out of the buckets of who writes. If there is not enough, the session goes on when there is.
  func paysFor(_ request: SocketRequest) -> Bool {
    guard request.isPaced || request.isAboutCaller && !disconnect.isEmpty else { return true }
    // A few bytes below a large node that is registered may let the store write all of it again.
    let bytes = request.bytes + (request.isAboutEnd ? disconnectBytes : 0)
    guard let wait = sessions.pace?.wait(caller, from: client, bytes: bytes) else { return true }
    services.metrics.sockets.pauses.increment()
    let session = NIOLoopBound(self, eventLoop: eventLoop)
    // The wall clock may have been moved until then: no sleep is long.
    pause = eventLoop.scheduleTask(in: .milliseconds(min(wait, 10_000))) {
      session.value.pause = nil
      session.value.pump()
    }
    return false
  }

  /// Counts one more listen of the client's network; false if it has too many.
  func takesListen() -> Bool { sessions.take(listenOf: client) }

  func forget(_ listen: SocketListen) {
    guard listens[listen.id] != nil else { return }
    listens.remove(listen)
    sessions.giveBack(listens: 1, of: client)
  }
}

/// A client's move from long polling to a WebSocket within one session (firebase-js-sdk,
/// `BrowserPollConnection.ts`).
///
/// The client tries the new transport with pings, then says `a` on it, `n` as its last message on the old one, and goes on with
/// the new. What comes over the new one before that last message waits. The server says `n` on the old one after its last
/// message there.
final class TransportSwitch {
  let transport: any SocketTransport
  var isSending = false
  /// Requests that came before the old transport's last message.
  private(set) var early: [SocketRequest] = []
  /// Their size in bytes.
  private(set) var earlyWeight = 0

  init(_ transport: any SocketTransport) {
    self.transport = transport
  }

  func keep(_ request: SocketRequest) {
    early.append(request)
    earlyWeight += request.weight
  }
}

extension SocketSession {
  /// Begins the move to another transport; of two moves the later counts.
  func move(to transport: any SocketTransport) {
    switch phase {
    case .opening, .open:
      successor?.transport.close(WebSocketError(.goingAway, "The client has connected again."))
      successor = TransportSwitch(transport)
      transport.send(SocketAnswers.control("a"))
    case .ending, .ended:
      transport.send(SocketAnswers.control("r", host))
      transport.close(WebSocketError(.goingAway, "The session is over; connect again."))
    }
  }

  /// A message on the new transport.
  func successorSent(_ message: SocketMessage, successor: TransportSwitch) {
    switch message {
    case .control("p"): successor.transport.send(SocketAnswers.control("o"))
    case .control("a"): successor.isSending = true
    // Later they would say nothing either.
    case .control: break
    case .request(let request):
      // The old transport's last messages are on their way in requests of their own.
      guard successor.early.count < limits.requestsMax else {
        return end(WebSocketError(.policyViolation, "The old transport was never ended."))
      }
      successor.keep(request)
      holdWaiting()
    }
  }

  /// The old transport's last message has come: from now on everything goes over the new one.
  func predecessorEnded() {
    guard let successor, let old = transport else { return }
    old.send(SocketAnswers.control("n"))
    transport = successor.transport
    self.successor = nil
    old.close(WebSocketError(.goingAway, "The client has moved to another transport."))
    for request in successor.early { take(.request(request)) }
  }
}
