import StorageCore
import Synchronization

/// Who is between the first credential and the second, kept in memory: after a restart a player begins again.
final class SecondFactorDesk: Sendable {
  /// Wrong codes after which a player begins again.
  private static let failuresMax = 5
  private static let most = 10_000

  private struct State {
    var signIns: [String: PendingSignIn] = [:]
    var enrollments: [String: PendingEnrollment] = [:]
  }

  private let state = Mutex(State())

  func add(_ signIn: PendingSignIn, as credential: String, at now: Int64) {
    state.withLock { state in
      if state.signIns.count >= Self.most { state.signIns = state.signIns.filter { $0.value.expiresAt > now } }
      // Still full of those who are under way: the one who would end first makes room.
      if state.signIns.count >= Self.most, let first = state.signIns.min(by: { $0.value.expiresAt < $1.value.expiresAt }) {
        state.signIns[first.key] = nil
      }
      state.signIns[credential] = signIn
    }
  }

  /// Who a pending credential stands for; nil if for nobody, or no longer.
  func signIn(_ credential: String, of project: String, at now: Int64) -> PendingSignIn? {
    state.withLock { $0.signIns[credential] }.flatMap { $0.project == project && $0.expiresAt > now ? $0 : nil }
  }

  func noteFailure(_ credential: String) {
    state.withLock { state in
      state.signIns[credential]?.failures += 1
      if let failures = state.signIns[credential]?.failures, failures >= Self.failuresMax { state.signIns[credential] = nil }
    }
  }

  func remove(_ credential: String) { state.withLock { $0.signIns[credential] = nil } }

  func add(_ enrollment: PendingEnrollment, as session: String, at now: Int64) {
    state.withLock { state in
      state.enrollments = state.enrollments.filter { $0.value.expiresAt > now && $0.value.uid != enrollment.uid }
      if state.enrollments.count < Self.most { state.enrollments[session] = enrollment }
    }
  }

  func enrollment(_ session: String, of project: String, at now: Int64) -> PendingEnrollment? {
    state.withLock { $0.enrollments[session] }.flatMap { $0.project == project && $0.expiresAt > now ? $0 : nil }
  }

  func remove(enrollment session: String) { state.withLock { $0.enrollments[session] = nil } }
}
