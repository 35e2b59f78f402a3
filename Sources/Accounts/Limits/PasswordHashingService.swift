package import Credentials
import Synchronization

/// What hashing passwords costs, and where it is done.
package struct PasswordHashing: Sendable {
  let hasher: PasswordHasher
  let threads: OffLoopWork

  package init(hasher: PasswordHasher = PasswordHasher(), threads: OffLoopWork) {
    self.hasher = hasher
    self.threads = threads
  }
}

/// Hashes and checks passwords on threads of their own: a bounded number at once, and those who wait take turns
/// (``FairQueue``), so that a flood from one network keeps nobody else waiting for more than a turn.
final class PasswordHashingService: Sendable {
  /// Whose turn a hash counts as.
  struct Client: Sendable, Hashable {
    /// An address, of IPv6 its network of 64 bits.
    let network: String
    /// An address or a uid: what is signed in to.
    let account: String
  }

  /// One hash: it is run, or refused, once.
  private struct Job: Sendable {
    let run: @Sendable () -> Void
    let refuse: @Sendable () -> Void
  }

  private struct State {
    var running = 0
    var waiting: FairQueue<Job>
  }

  private let hasher: PasswordHasher
  private let threads: OffLoopWork
  private let runningMax: Int
  private let state: Mutex<State>
  private let random: @Sendable () -> any RandomNumberGenerator

  init(
    _ hashing: PasswordHashing, options: AccountOptions, random: @escaping @Sendable () -> any RandomNumberGenerator
  ) {
    hasher = hashing.hasher
    threads = hashing.threads
    runningMax = options.hashingThreads
    let bounds = FairQueue<Job>.Bounds(
      total: options.hashingQueueMax, perNetwork: options.hashingQueuePerNetwork,
      perAccount: options.hashingQueuePerAccount)
    state = Mutex(State(waiting: FairQueue(bounds: bounds)))
    self.random = random
  }

  /// How many wait for their turn.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// The text to store for a password.
  func hash(_ password: String, for client: Client) async throws -> String {
    let text = try await perform(for: client) { [hasher, random] in
      var random = random()
      return Self.record(password, hasher: hasher, random: &random)
    }
    guard let text else { throw AccountError.passwordTooLong }
    return text
  }

  /// Checks a password; takes as long where nothing is stored.
  func check(_ password: String, against stored: String?, for client: Client) async throws -> PasswordHasher.Verdict {
    try await perform(for: client) { [hasher] in hasher.check(password, against: stored) }
  }

  private static func record(
    _ password: String, hasher: PasswordHasher, random: inout any RandomNumberGenerator
  ) -> String? {
    hasher.record(for: password, using: &random)?.text
  }

  // MARK: Turns

  private func perform<Value: Sendable>(for client: Client, work: @escaping @Sendable () -> Value) async throws -> Value {
    let value: Value? = await withCheckedContinuation { continuation in
      let run: @Sendable () -> Void = { continuation.resume(returning: work()) }
      enqueue(Job(run: run, refuse: { continuation.resume(returning: nil) }), from: client)
    }
    guard let value else { throw Self.busy }
    return value
  }

  private func enqueue(_ job: Job, from client: Client) {
    // What is to be done is decided under the lock and done without it.
    enum Step {
      case run
      case refuse(Job)
      case wait
    }
    let step: Step = state.withLock { state in
      if state.running < runningMax {
        state.running += 1
        return .run
      }
      return switch state.waiting.add(job, network: client.network, account: client.account) {
      case .waits: .wait
      case .displaced(let other): .refuse(other)
      case .refused: .refuse(job)
      }
    }
    switch step {
    case .run: start(job)
    case .refuse(let refused): refused.refuse()
    case .wait: break
    }
  }

  private func start(_ job: Job) {
    let isAccepted = threads.submit { [self] in
      job.run()
      startNext()
    }
    guard !isAccepted else { return }
    job.refuse()
    startNext()
  }

  /// Gives the turn that is over to the next.
  private func startNext() {
    let next = state.withLock { state in
      let next = state.waiting.next()
      if next == nil { state.running -= 1 }
      return next
    }
    if let next { start(next) }
  }

  private static let busy = AccountError.unavailable("Too many passwords are being checked; try again in a moment.")
}

/// Where work goes that takes a core for a while: threads that serve no requests.
package struct OffLoopWork: Sendable {
  private let body: @Sendable (@escaping @Sendable () -> Void) -> Bool

  /// - Parameter body: runs the work soon, on another thread, and returns true; or returns false and never runs it.
  package init(_ body: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool) {
    self.body = body
  }

  /// Runs the work at once, where it was asked for: for tests and commands.
  package static let inPlace = OffLoopWork { work in
    work()
    return true
  }

  func submit(_ work: @escaping @Sendable () -> Void) -> Bool { body(work) }
}
