import APISupport
import HTTPServer
import NIOCore
import StorageCore
import TreeDatabase
import TreeModel

extension SocketSession {
  /// Takes credentials: an ID token (`auth`), or anything else (`gauth`: an OAuth token, a secret, `owner`).
  ///
  /// What was asked before was judged as the caller before. A refusal makes the client close, get another token, and come
  /// again.
  func authenticate(_ request: SocketRequest) throws(SocketRefusal) {
    guard let credential = request.body["cred"]?.string else {
      throw SocketRefusal("invalid_token", "The request has no credential: cred must be a string.")
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
    do throws(AccessRefusal) {
      found = try services.authenticator.caller(
        request.action == "auth"
          ? RequestCredentials(idToken: credential, override: override, isForeign: isForeign)
          : RequestCredentials(accessToken: credential, override: override, isForeign: isForeign)
      ).onTree()
    } catch {
      throw SocketRefusal(error.isTemporary ? "unavailable" : "invalid_token", error.message)
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

  /// From now on the client is somebody else. What it listens to is looked at again.
  func become(_ caller: Caller) {
    guard caller != self.caller else { return }
    self.caller = caller
    reviewListens()
    watchRevocation()
    watchExpiry()
  }

  /// From now on the session hears when the caller's credentials become void.
  func watchRevocation() {
    if let userPlace { services.connectedUsers.remove(userPlace) }
    let reference = reference
    userPlace = services.connectedUsers.add(caller) { effectiveAt in
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
  /// And whether they are void before their end: who comes with an old token in the grace of a revocation is told of nothing.
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
  /// end without a word (spec: rtdb-protocol §3.10).
  private func expire() {
    guard isOpen else { return }
    caller = .anonymous
    watchRevocation()
    tell(SocketAnswers.credentialRevoked("expired_token", "Auth token is expired"))
    for listen in listens.all where !admits(listen.admission, listen.id) {
      answer(listen) { SocketAnswers.refused($0, .permissionDenied) }
      drop(listen)
    }
  }
}
