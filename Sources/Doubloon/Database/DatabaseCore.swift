import ClientLink
import ClientRuntime
import Dispatch
import SyncModel
import TreeModel

/// The state of one database, and the thread on which it is touched.
///
/// Every call is put on one serial queue, in the order of the calls, and none waits for it. The app's closures run on its
/// callback queue; only the functions of transactions run here.
///
/// `@unchecked Sendable`: everything that changes is touched on `queue` only.
final class DatabaseCore: @unchecked Sendable {
  typealias Work = @Sendable (DatabaseCore) -> Void

  let environment: DatabaseEnvironment
  let queue = DispatchQueue(label: "doubloon.database")
  var session: RealtimeSession
  private var socket: (any SocketConnection)?
  /// Counts sockets: what an old one still says is not heard.
  private var socketNumber = 0
  private var timer: (any ClientTimer)?
  private var timerDeadline: Int64?
  private var isFlushing = false
  private(set) var isPlayerKnown = false
  private var saving: (any ClientTimer)?

  /// The last number of a listener; taken on any thread.
  let handles = Locked<UInt>(0)
  /// Which listeners may still be called; looked at on any thread.
  let activity = Locked<[UInt: Locked<Bool>]>([:])
  /// The listens of `keepSynced`.
  var kept: [ListenSpec: ListenerID] = [:]
  var observers: [ListenerID: Observer] = [:]
  var listenerOfHandle: [UInt: ListenerID] = [:]
  var receipts: [WriteID: [WriteObserver]] = [:]
  var reads: [ReadID: (Result<TreeNode, ReadFailure>) -> Void] = [:]
  var disconnects: [DisconnectID: (Refusal?) -> Void] = [:]
  var transactions: [TransactionID: RunningTransaction] = [:]
  var store: DatabaseStore?
  private var hasNotedTransactions = false
  var uid: String?

  /// Who is told of a window's events.
  struct Observer {
    let handle: UInt
    let isActive: Locked<Bool>
    let event: @Sendable (TreeEvent) -> Void
    let cancelled: @Sendable (Refusal) -> Void
  }

  /// Who is told what becomes of a write.
  struct WriteObserver {
    var sent: @Sendable () -> Void = {}
    let answered: @Sendable (Refusal?) -> Void
  }

  struct RunningTransaction {
    let path: Path
    let run: (TreeNode) -> TreeNode?
    let finished: @Sendable (SyncModel.TransactionResult) -> Void
  }

  init(_ environment: DatabaseEnvironment) {
    self.environment = environment
    var random = SystemRandomNumberGenerator()
    session = RealtimeSession(
      RealtimeSession.Target(namespace: environment.namespace, appID: environment.appID), seed: random.next(),
      name: (random.next(), random.next()))
    if let tokens = environment.tokens {
      tokens.observe { [weak self] token, uid in
        self?.post { core in
          core.playerChanged(to: uid)
          core.session.setToken(token, at: core.now)
        }
      }
    } else {
      post { $0.session.setToken(nil, at: $0.now) }
    }
  }

  var now: Moment { Moment(wall: environment.clock.milliseconds, uptime: environment.clock.uptime) }

  /// Does something on the database's queue, after what was put there before, and carries out what comes of it.
  func post(_ work: @escaping Work) {
    queue.async { [self] in
      work(self)
      flush()
    }
  }

  private func playerChanged(to uid: String?) {
    if isPlayerKnown, uid == self.uid { return }
    let carries = self.uid == nil
    let hadPlayer = isPlayerKnown && !carries
    isPlayerKnown = true
    self.uid = uid
    if hadPlayer {
      // What one player wrote is not sent as another's; on disk it waits until that player is back.
      store?.close()
      session.purgeWrites(now)
      flush()
    }
    store?.playerChanged(to: uid, carries: carries, core: self)
  }

  /// Closes the connection, and lets go of the files, which the next start of the app finds as after any other end.
  func shutDown() {
    session.setOnline(false, at: now)
    flush()
    saving?.cancel()
    store?.save(core: self)
    store?.close()
    (saving, store) = (nil, nil)
  }

  /// What the server said is put on disk a moment after the last change.
  private func saveSoon() {
    guard let store, saving == nil else { return }
    saving = environment.clock.schedule(after: store.pause) { [weak self] in
      self?.post { core in
        core.saving = nil
        core.store?.save(core: core)
      }
    }
  }

  // MARK: Outputs

  /// Carries out what the session wants, until it wants nothing more.
  func flush() {
    if isFlushing { return }
    isFlushing = true
    var outputs = session.takeOutputs()
    while !outputs.isEmpty {
      for output in outputs { carryOut(output) }
      outputs = session.takeOutputs()
    }
    isFlushing = false
    setTimer()
  }

  private func carryOut(_ output: SessionOutput) {
    switch output {
    case .connect(let host, let target): connect(host, target: target)
    case .send(let frame): socket?.send(frame)
    case .close:
      socketNumber += 1
      socket?.close()
      socket = nil
    case .refreshToken:
      if let tokens = environment.tokens { Task { await tokens.refresh() } }
    case .pending(let write, let key): store?.keep(write, key: key, core: self)
    case .sent(let id): for observer in receipts[id] ?? [] { observer.sent() }
    case .written(let id, let refusal):
      store?.forget(id, core: self)
      for observer in receipts.removeValue(forKey: id) ?? [] { observer.answered(refusal) }
    case .event(let id, let event): observers[id]?.event(event)
    case .cancelled(let id, let refusal):
      guard let observer = observers.removeValue(forKey: id) else { return }
      listenerOfHandle[observer.handle] = nil
      observer.cancelled(refusal)
    case .run(let id): runTransaction(id)
    case .finished(let id, let result): transactions.removeValue(forKey: id)?.finished(result)
    case .read(let id, let result): reads.removeValue(forKey: id)?(result)
    case .disconnectSet(let id, let refusal): disconnects.removeValue(forKey: id)?(refusal)
    case .log(let isWarning, let line): environment.log(isWarning ? .warning : .debug, line)
    }
  }

  /// Writes outlive the app where they are kept on disk, transactions never: said once.
  func noteTransaction() {
    if store == nil || hasNotedTransactions { return }
    hasNotedTransactions = true
    environment.log(.notice, "Transactions are not kept on disk: one that is not answered when the app ends is gone.")
  }

  private func runTransaction(_ id: TransactionID) {
    guard let transaction = transactions[id], let input = session.tree.transactionInput(id) else { return }
    let began = environment.clock.uptime
    let output = transaction.run(input)
    if environment.clock.uptime - began > 10_000 {
      environment.log(.warning, "A transaction's function took more than 10 seconds; the database waits for it meanwhile.")
    }
    session.transactionRan(id, output: output, at: now)
  }

  // MARK: The socket

  private func connect(_ host: String?, target: String) {
    socketNumber += 1
    let number = socketNumber
    let server =
      host.flatMap { ServiceAddress(authority: $0, isSecure: environment.server.isSecure) } ?? environment.server
    environment.log(.debug, "Connecting to the database at \(server).")
    socket = environment.sockets.open(server, target: target, timeout: 30_000) { [weak self] event in
      self?.post { core in core.socket(number, event: event) }
    }
  }

  private func socket(_ number: Int, event: SocketEvent) {
    guard number == socketNumber else { return }
    switch event {
    case .opened: session.socketOpened(now)
    case .text(let text):
      session.socketReceived(text, at: now)
      socket?.took(text.count)
      saveSoon()
    case .closed(let error):
      socket = nil
      session.socketClosed(now, because: error?.message)
    }
  }

  // MARK: Time

  private func setTimer() {
    let deadline = session.deadline
    if deadline == timerDeadline { return }
    timer?.cancel()
    timer = nil
    timerDeadline = deadline
    guard let deadline else { return }
    timer = environment.clock.schedule(after: max(0, deadline - environment.clock.uptime)) { [weak self] in
      self?.post { core in
        core.timerDeadline = nil
        core.session.tick(core.now)
      }
    }
  }
}

/// What a database stands on: where it is, and what reaches it.
struct DatabaseEnvironment: Sendable {
  var server: ServiceAddress
  var namespace: String
  /// The app's id, for the server's log.
  var appID: String
  var clock: any ClientClock
  var sockets: any SocketTransport
  var callbacks: CallbackQueue
  var log: ClientLog
  /// The folder for what is kept on disk; nil: nothing can be kept.
  var storageFolder: String?
  /// Who the player is; nil: nobody, ever.
  var tokens: (any DatabaseTokens)?
}

/// The player's token, for the socket.
protocol DatabaseTokens: Sendable {
  /// Calls the closure with the token and the player's uid now and whenever they change; nil is nobody.
  func observe(_ changed: @escaping @Sendable (_ token: String?, _ uid: String?) -> Void)
  /// The server refused the token: gets another, of which the observer is told.
  func refresh() async
}
