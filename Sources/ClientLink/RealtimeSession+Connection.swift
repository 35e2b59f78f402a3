import ClientRuntime
import SyncModel
import TreeModel

// MARK: The socket

extension RealtimeSession {
  /// The socket is open: the server speaks first.
  package mutating func socketOpened(_ now: Moment) {
    link.lastSent = now.uptime
  }

  /// A text arrived.
  package mutating func socketReceived(_ text: [UInt8], at now: Moment) {
    switch link.phase {
    case .closed: return
    case .connecting, .greeted, .authenticating, .ready: break
    }
    do throws(ProtocolError) {
      guard let message = try link.frames.receive(text) else { return }
      handle(try ServerMessage(message), at: now)
    } catch {
      disconnect(now, because: error.description)
    }
    carryOut(now)
  }

  /// The socket is closed, or could not be opened.
  package mutating func socketClosed(_ now: Moment, because reason: String?) {
    if case .closed = link.phase { return }
    tell(of: reason ?? "The connection was closed.")
    lost(now)
    carryOut(now)
  }

  /// Ends the connection from this side; another is tried when it is due.
  mutating func disconnect(_ now: Moment, because reason: String?) {
    if case .closed = link.phase { return }
    if let reason { tell(of: reason) }
    outputs.append(.close)
    lost(now)
  }

  /// What ended a connection. A server that cannot be reached is a warning, once for each reason: until it can be, only the log
  /// knows why nothing comes.
  private mutating func tell(of reason: String) {
    if isConnected { return outputs.append(.log(isWarning: false, reason)) }
    let isKnown = reason == link.lastTrouble
    link.lastTrouble = reason
    outputs.append(
      .log(isWarning: !isKnown, "The database cannot be reached: \(reason) Writes wait, and are sent when it can be."))
  }

  private mutating func lost(_ now: Moment) {
    let wasReady = isConnected
    if let since = link.goodSince, now.uptime - since >= LinkState.goodAfter {
      link.backoff.reset()
      (link.isFirstTry, link.resets) = (true, 0)
    }
    link.phase = .closed(notBefore: now.uptime + (link.isFirstTry ? 0 : link.backoff.delay(using: &link.random)))
    link.isFirstTry = false
    link.goodSince = nil
    link.openingDeadline = nil
    link.frames = MessageFrames()
    link.inflight.removeAll()
    tree.connectionLost()
    for index in link.disconnects.indices { link.disconnects[index].isSent = false }
    for index in link.reads.indices {
      link.reads[index].isSent = false
      link.reads[index].deadline = now.uptime + LinkState.readPatience
    }
    if wasReady { tree.setLocal(ClientTree.connectedPath, to: false) }
    tree.runDisconnect(link.remembered.take(), now: serverTime(now))
    for id in link.puts.connectionLost() { tree.answerTransaction(id, .disconnected) }
  }
}

// MARK: Time

extension RealtimeSession {
  /// When ``tick(_:)`` is to be called, in milliseconds of the clock that only goes forward; nil: not for its own sake.
  package var deadline: Int64? {
    var times: [Int64] = []
    switch link.phase {
    case .closed(let notBefore): if wantsConnection { times.append(notBefore) }
    case .connecting, .authenticating: if let time = link.openingDeadline { times.append(time) }
    case .greeted: break
    case .ready:
      times.append(link.lastSent + LinkState.keepAlive)
      if let since = link.idleSince { times.append(since + LinkState.idleMax) }
    }
    times += link.reads.lazy.filter { !$0.isSent }.map(\.deadline)
    return times.min()
  }

  /// Time went on.
  package mutating func tick(_ now: Moment) {
    if let time = link.openingDeadline, time <= now.uptime {
      let omission = link.phase == .authenticating ? "answer to the player's token" : "greet"
      disconnect(now, because: "The server did not \(omission) within \(LinkState.openingPatience / 1000) seconds.")
    }
    if isConnected {
      if let since = link.idleSince, since + LinkState.idleMax <= now.uptime {
        outputs.append(.close)
        link.isFirstTry = true
        lost(now)
      } else if link.lastSent + LinkState.keepAlive <= now.uptime {
        sendFrame(Array("0".utf8), at: now)
      }
    }
    for read in link.reads where !read.isSent && read.deadline <= now.uptime {
      link.reads.removeAll { $0.id == read.id }
      outputs.append(.read(read.id, .failure(ReadFailure(refusal: Refusal(status: "offline")))))
    }
    carryOut(now)
  }

  private var wantsConnection: Bool { !link.isInterrupted && (link.hasWork || tree.hasListeners) }

  /// Opens a connection if one is wanted and due, and watches for idleness.
  mutating func settle(_ now: Moment) {
    if link.hasWork || tree.hasListeners {
      link.idleSince = nil
    } else if link.idleSince == nil {
      link.idleSince = now.uptime
    }
    guard case .closed(let notBefore) = link.phase, wantsConnection, notBefore <= now.uptime else { return }
    link.phase = .connecting
    link.openingDeadline = now.uptime + LinkState.openingPatience
    outputs.append(.connect(host: link.host, target: socketTarget))
  }

  /// Path and query of the socket.
  private var socketTarget: String {
    var text = "/.ws?v=5"
    if !target.namespace.isEmpty { text += "&ns=\(Self.encoded(target.namespace))" }
    if let session = link.session { text += "&ls=\(Self.encoded(session))" }
    if !target.appID.isEmpty { text += "&p=\(Self.encoded(target.appID))" }
    return text
  }

  private static func encoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: result.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let hex = String(byte, radix: 16, uppercase: true)
        result += hex.utf8.count == 1 ? "%0\(hex)" : "%\(hex)"
      }
    }
    return result
  }
}
