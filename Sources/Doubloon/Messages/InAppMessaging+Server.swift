import ClientRuntime
import Foundation
import TreeModel

/// What is asked of the server and told to it.
extension InAppMessaging {
  /// Who plays decides which campaigns there are: another player means another answer.
  func listenToPlayer() {
    guard state.withLock({ $0.listener == nil }) else { return }
    let player = Locked<String?>(auth.currentUser?.uid)
    let listener = auth.listen(hearsTokens: false) { [weak self] user in
      let isOther = player.withLock { player in
        defer { player = user?.uid }
        return player != user?.uid
      }
      if isOther { self?.apply { model, _ in model.playerChanged() } }
    }
    let second = state.withLock { state in
      defer { state.listener = state.listener ?? listener }
      return state.listener != nil
    }
    if second { auth.removeListener(listener) }
  }

  /// Sends what waits, then fetches.
  func fetch() async {
    await upload()
    do {
      try await turns.run { [self] in
        let displays = state.withLock { $0.model.records.displays }
        let bearer = try? await auth.currentUser?.getIDToken()
        var reply = try await wire.fetch(try await installation(), displays: displays, bearer: bearer)
        note(reply)
        if reply.response.status == 401 {
          reply = try await wire.fetch(try await installation(), displays: displays, bearer: bearer)
          note(reply)
        }
        guard let text = reply.text(bytesMax: MessageWire.answerMax) else {
          return apply { model, now in model.fetchFailed(retryAfter: reply.retryAfter, now: now) }
        }
        apply { model, now in model.fetched(text, asked: Set(displays.keys), now: now) }
      }
    } catch {
      runtime.log(.debug, "Messages cannot be fetched: \(error)")
      apply { model, now in model.fetchFailed(retryAfter: nil, now: now) }
    }
  }

  /// Sends a batch of what is to be counted, and one of the app's events.
  func upload() async {
    try? await turns.run { [self] in
      let lines = state.withLock { $0.model.isOn ? $0.model.records.lines : [] }
      guard !lines.isEmpty else { return apply { model, _ in model.nothingToUpload() } }
      var (taken, wait): (Set<String>, Int64?) = ([], nil)
      do {
        for isConversion in [false, true] {
          let batch = Array(lines.filter { $0.isConversion == isConversion }.prefix(MessageWire.batchMax))
          guard !batch.isEmpty else { continue }
          let reply = try await wire.send(batch, of: try await installation())
          note(reply)
          guard reply.isTaken || reply.isRefused else { throw TransportError(.badResponse, "status \(reply.response.status)") }
          if reply.isRefused { runtime.log(.warning, "The server refused a batch of messages' counts; it is dropped.") }
          taken.formUnion(batch.map(\.key))
          wait = reply.nextWait ?? wait
        }
        apply { model, now in model.uploaded(taken, wait: wait, now: now) }
      } catch {
        runtime.log(.debug, "What was counted of messages cannot be sent: \(error)")
        apply { model, now in model.uploaded(taken, wait: 3_600_000, now: now) }
      }
    }
  }

  /// The installation with a token that is valid; a new one where there is none, or where the server knows it no more.
  private func installation() async throws -> MessageRecords.Installation {
    let known = state.withLock { $0.model.records.installation }
    if let known, known.tokenEnds - runtime.clock.milliseconds > MessageWire.tokenMargin { return known }
    let fresh = try await wire.install(known)
    let isOn = state.withLock { state in
      if state.model.isOn { state.model.records.installation = fresh }
      return state.model.isOn
    }
    guard isOn else {
      // The player changed their mind meanwhile.
      await wire.erase(fresh)
      throw CancellationError()
    }
    save()
    return fresh
  }

  /// The server's clock counts; and an installation that it does not know is none.
  private func note(_ reply: MessageWire.Reply) {
    let clock = runtime.clock.milliseconds
    state.withLock { state in
      if let date = reply.date, abs(date - clock - state.model.records.clockOffset) > 2000 {
        state.model.records.clockOffset = date - clock
      }
      if reply.response.status == 401 { state.model.records.installation = nil }
    }
  }

  /// Hears of the server's events while the app is open.
  func listen() async {
    var backoff = Backoff.reconnecting
    var isFirst = true
    while !Task.isCancelled {
      do {
        guard let installation = state.withLock({ $0.model.records.installation }) else {
          throw TransportError(.disconnected, "There is no installation yet.")
        }
        let bearer = try? await auth.currentUser?.getIDToken()
        let events = try await wire.events(installation, bearer: bearer)
        // What happened while nobody listened.
        if !isFirst { apply { model, _ in model.refresh() } }
        isFirst = false
        for try await event in events {
          backoff.reset()
          if event.name == "replaced" { return }
          if event.name == "trigger" || event.name == "refresh" { apply { model, _ in model.refresh() } }
        }
      } catch {
        runtime.log(.debug, "The stream of messages is interrupted: \(error)")
      }
      var generator = SystemRandomNumberGenerator()
      guard (try? await runtime.clock.sleep(milliseconds: backoff.delay(using: &generator))) != nil else { return }
    }
  }
}
