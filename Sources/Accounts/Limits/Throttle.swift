import StorageCore
import Synchronization

/// Slows down who guesses: wrong passwords for one account from one address; and who asks for too much: passwords, new
/// accounts and mailed codes from one address, and mailed codes to one.
///
/// In memory and bounded: when it is full, what was quiet longest is forgotten. A restart forgets everything, which costs a
/// guesser more than it gives.
final class Throttle: Sendable {
  private struct FailedAttempts {
    var count: Int
    /// Until when nothing is tried, in milliseconds since 1970.
    var blockedUntil: Int64
    var lastAt: Int64
  }

  private struct Bucket {
    var count: Int
    /// When the hour began.
    var since: Int64
  }

  private struct State {
    var failures: [String: FailedAttempts] = [:]
    var buckets: [String: Bucket] = [:]
    /// Passwords by who set or tried them; nil without a limit.
    var passwordsByClient: TokenBuckets<String>?
    /// Mailed codes by who asked; nil without a limit.
    var codesByClient: TokenBuckets<String>?
    /// The same by whom they go to.
    var codesByRecipient: TokenBuckets<String>?
  }

  private let state: Mutex<State>
  private let options: AccountOptions

  private static let entriesMax = 50_000
  private static let hour: Int64 = 3_600_000
  /// The first wait, doubled with every further failure up to the longest.
  private static let firstWait: Int64 = 30_000
  private static let longestWait: Int64 = 3_600_000

  init(options: AccountOptions) {
    self.options = options
    var state = State()
    state.passwordsByClient = options.passwordsPerClient.map { TokenBuckets(limit: $0, capacity: Self.entriesMax) }
    state.codesByClient = options.codesPerClient.map { TokenBuckets(limit: $0, capacity: Self.entriesMax) }
    state.codesByRecipient = options.codesPerRecipient.map { TokenBuckets(limit: $0, capacity: Self.entriesMax) }
    self.state = Mutex(state)
  }

  /// Refuses an attempt while the account is blocked for this address.
  func checkAttempt(_ account: String, from address: String, at now: Int64) throws {
    let isBlocked = state.withLock { state in
      state.failures["\(account)\n\(address)"].map { now < $0.blockedUntil } ?? false
    }
    guard !isBlocked else { throw AccountError.tooManyFailures }
  }

  func noteFailure(_ account: String, from address: String, at now: Int64) {
    state.withLock { state in
      let key = "\(account)\n\(address)"
      if state.failures.count >= Self.entriesMax { Self.shrink(&state.failures, by: \.lastAt) }
      var entry = state.failures[key] ?? FailedAttempts(count: 0, blockedUntil: 0, lastAt: now)
      if now - entry.lastAt > Self.hour { entry.count = 0 }
      entry.count += 1
      entry.lastAt = now
      if entry.count >= options.failuresMax {
        let doublings = min(entry.count - options.failuresMax, 7)
        entry.blockedUntil = now + min(Self.firstWait << Int64(doublings), Self.longestWait)
      }
      state.failures[key] = entry
    }
  }

  /// Forgets the failures of an account: it signed in, or its password was reset.
  func noteSuccess(_ account: String, from address: String) {
    state.withLock { _ = $0.failures.removeValue(forKey: "\(account)\n\(address)") }
  }

  /// Forgets the failures of an account from anywhere: its password was reset.
  func clear(_ account: String) {
    state.withLock { state in state.failures = state.failures.filter { !$0.key.hasPrefix("\(account)\n") } }
  }

  /// Counts one password that an address sets or tries, right or wrong: each costs a hash.
  func countPassword(from address: String, at now: Int64) throws {
    let verdict = state.withLock { $0.passwordsByClient?.take(address, at: now) }
    guard case .wait? = verdict else { return }
    throw AccountError.tooManyPasswords
  }

  /// Counts one new account for an address.
  func countSignUp(from address: String, at now: Int64) throws {
    guard let most = options.signUpsPerHour else { return }
    let isAllowed = state.withLock { state in
      if state.buckets.count >= Self.entriesMax { Self.shrink(&state.buckets, by: \.since) }
      var bucket = state.buckets[address] ?? Bucket(count: 0, since: now)
      if now - bucket.since >= Self.hour { bucket = Bucket(count: 0, since: now) }
      bucket.count += 1
      state.buckets[address] = bucket
      return bucket.count <= most
    }
    guard isAllowed else { throw AccountError.tooManyFailures }
  }

  /// Counts one mailed code for who asks and for whom it goes to; false if it is too many for either.
  ///
  /// A refusal costs the asker a token too, and the recipient none: nobody's mail is shut off for longer by being asked for.
  func admitsCode(to recipient: String, from address: String, at now: Int64) -> Bool {
    state.withLock { state in
      if case .wait? = state.codesByClient?.take(address, at: now) { return false }
      if case .wait? = state.codesByRecipient?.take(recipient, at: now) { return false }
      return true
    }
  }

  private static func shrink<Value>(_ entries: inout [String: Value], by age: KeyPath<Value, Int64>) {
    let sorted = entries.sorted { $0.value[keyPath: age] < $1.value[keyPath: age] }
    entries = Dictionary(uniqueKeysWithValues: sorted.suffix(entriesMax / 2).map { ($0.key, $0.value) })
  }
}
