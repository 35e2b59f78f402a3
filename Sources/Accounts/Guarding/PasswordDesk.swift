import Credentials
import Synchronization

/// Hashes and checks passwords on threads of their own, a bounded number at once.
final class PasswordDesk: Sendable {
  private let hasher: PasswordHasher
  private let run: OffLoopWork
  private let waitingMax: Int
  private let waiting = Mutex(0)
  private let random: @Sendable () -> any RandomNumberGenerator

  init(hasher: PasswordHasher, run: OffLoopWork, waitingMax: Int, random: @escaping @Sendable () -> any RandomNumberGenerator) {
    self.hasher = hasher
    self.run = run
    self.waitingMax = waitingMax
    self.random = random
  }

  /// The text to store for a password.
  func hash(_ password: String) async throws(AccountError) -> String {
    let text = try await perform { [hasher, random] in
      var random = random()
      return Self.record(password, hasher, &random)
    }
    guard let text else {
      throw AccountError("WEAK_PASSWORD", "Password should be at most \(PasswordRecord.passwordMax) bytes")
    }
    return text
  }

  /// Checks a password; takes as long where nothing is stored.
  func check(_ password: String, against stored: String?) async throws(AccountError) -> PasswordHasher.Verdict {
    try await perform { [hasher] in hasher.check(password, against: stored) }
  }

  private static func record(
    _ password: String, _ hasher: PasswordHasher, _ random: inout any RandomNumberGenerator
  ) -> String? {
    hasher.record(for: password, using: &random)?.text
  }

  private func perform<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async throws(AccountError) -> Value {
    let isAdmitted = waiting.withLock { waiting in
      if waiting < waitingMax { waiting += 1 } else { return false }
      return true
    }
    guard isAdmitted else { throw Self.busy }
    defer { waiting.withLock { $0 -= 1 } }
    let value: Value? = await withCheckedContinuation { continuation in
      let isTaken = run.submit { continuation.resume(returning: work()) }
      if !isTaken { continuation.resume(returning: nil) }
    }
    guard let value else { throw Self.busy }
    return value
  }

  private static let busy = AccountError.unavailable("Too many passwords are being checked; try again in a moment.")
}
