import SyncModel
import TreeModel

@testable import ClientLink

/// A session without a network: what it sends is looked at, and the server's part is spoken by the test.
struct SessionHarness: ~Copyable {
  var session = RealtimeSession(RealtimeSession.Target(namespace: "game"), seed: 1, name: (1, 2))
  var now = Moment(wall: 1_000_000, uptime: 0)
  var sent: [String] = []
  var told: [(id: ListenerID, event: TreeEvent)] = []
  var events: [TreeEvent] { told.map(\.event) }
  var cancelled: [ListenerID] = []
  var written: [WriteID: Refusal?] = [:]
  var reads: [Result<TreeNode, ReadFailure>] = []
  var finished: [SyncModel.TransactionResult] = []
  var connects: [String] = []
  var logs: [String] = []
  var closes = 0
  var refreshes = 0
  var step: @Sendable (TreeNode) -> TreeNode? = { .leaf(.int(($0.scalar?.intValue ?? 0) + 1)) }

  mutating func pump() {
    var outputs = session.takeOutputs()
    while !outputs.isEmpty {
      for output in outputs {
        switch output {
        case .connect(let host, let target): connects.append("\(host ?? "")\(target)")
        case .send(let frame): sent.append(String(decoding: frame, as: UTF8.self))
        case .close: closes += 1
        case .refreshToken: refreshes += 1
        case .written(let id, let refusal): written[id] = .some(refusal)
        case .event(let id, let event): told.append((id, event))
        case .cancelled(let id, _): cancelled.append(id)
        case .run(let id):
          guard let input = session.tree.transactionInput(id) else { continue }
          session.transactionRan(id, output: step(input), at: now)
        case .finished(_, let result): finished.append(result)
        case .read(_, let result): reads.append(result)
        case .log(_, let line): logs.append(line)
        case .pending, .sent, .disconnectSet: break
        }
      }
      outputs = session.takeOutputs()
    }
  }

  mutating func receive(_ text: String) {
    session.socketReceived(Array(text.utf8), at: now)
    pump()
  }

  mutating func hello(host: String = "localhost:9000", session name: String = "s1") {
    receive("{\"t\":\"c\",\"d\":{\"t\":\"h\",\"d\":{\"ts\":1000000,\"v\":\"5\",\"h\":\"\(host)\",\"s\":\"\(name)\"}}}")
  }

  /// Answers the request of a number.
  mutating func answer(_ number: Int, _ status: String = "ok", _ data: String = "\"\"") {
    receive("{\"t\":\"d\",\"d\":{\"r\":\(number),\"b\":{\"s\":\"\(status)\",\"d\":\(data)}}}")
  }

  mutating func data(_ path: String, _ json: String) {
    receive("{\"t\":\"d\",\"d\":{\"a\":\"d\",\"b\":{\"p\":\"\(path)\",\"d\":\(json)}}}")
  }

  mutating func advance(by milliseconds: Int64) {
    now.uptime += milliseconds
    now.wall += milliseconds
    session.tick(now)
    pump()
  }

  mutating func listen(_ path: Path) {
    _ = session.listen(ListenSpec(path: path), to: [.value], at: now)
    pump()
  }

  mutating func write(_ path: Path, _ node: TreeNode) -> WriteID {
    let id = session.write(.set(path, node), at: now)
    pump()
    return id
  }

  mutating func setToken(_ token: String?) {
    session.setToken(token, at: now)
    pump()
  }

  mutating func lose() {
    session.socketClosed(now, because: nil)
    pump()
  }
}
