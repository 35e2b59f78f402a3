import Credentials
import StorageCore
import Synchronization

/// Who is between the first credential and the second, kept in memory: after a restart a player begins again.
final class PendingFactorStore: Sendable {
  /// How many an account may have at once: a client that has only its password takes nothing from others.
  private static let mostOfOne = 5
  private static let most = 10_000

  private struct State {
    var signIns: [String: PendingSignIn] = [:]
    var enrollments: [String: PendingEnrollment] = [:]
  }

  private let state = Mutex(State())

  func add(_ signIn: PendingSignIn, as credential: String, at now: Int64) {
    state.withLock { state in
      state.signIns = state.signIns.filter { $0.value.expiresAt > now }
      let own = state.signIns.filter { $0.value.uid == signIn.uid && $0.value.project == signIn.project }
      if own.count >= Self.mostOfOne { Self.removeOldest(of: own, from: &state) }
      if state.signIns.count >= Self.most { Self.removeOldest(of: state.signIns, from: &state) }
      state.signIns[credential] = signIn
    }
  }

  private static func removeOldest(of some: [String: PendingSignIn], from state: inout State) {
    guard let first = some.min(by: { $0.value.expiresAt < $1.value.expiresAt }) else { return }
    state.signIns[first.key] = nil
  }

  /// Who a pending credential stands for; nil if for nobody, or no longer.
  func signIn(_ credential: String, of project: String, at now: Int64) -> PendingSignIn? {
    state.withLock { $0.signIns[credential] }.flatMap { $0.project == project && $0.expiresAt > now ? $0 : nil }
  }

  /// The same for who tries a code, which is counted before it is looked at: however many try at once, no more are tried.
  func attempt(_ credential: String, of project: String, at now: Int64) -> PendingSignIn? {
    state.withLock { state in
      guard var signIn = state.signIns[credential], signIn.project == project, signIn.expiresAt > now,
        signIn.attempts < PendingSignIn.attemptsMax
      else { return nil }
      signIn.attempts += 1
      state.signIns[credential] = signIn
      return signIn
    }
  }

  func remove(_ credential: String) { state.withLock { $0.signIns[credential] = nil } }

  /// False if there is no room.
  func add(_ enrollment: PendingEnrollment, as session: String, at now: Int64) -> Bool {
    state.withLock { state in
      state.enrollments = state.enrollments.filter {
        $0.value.expiresAt > now && !($0.value.uid == enrollment.uid && $0.value.project == enrollment.project)
      }
      guard state.enrollments.count < Self.most else { return false }
      state.enrollments[session] = enrollment
      return true
    }
  }

  func enrollment(_ session: String, of project: String, at now: Int64) -> PendingEnrollment? {
    state.withLock { $0.enrollments[session] }.flatMap { $0.project == project && $0.expiresAt > now ? $0 : nil }
  }

  func remove(enrollment session: String) { state.withLock { $0.enrollments[session] = nil } }
}

/// A player who showed the first credential, and is asked for the second.
struct PendingSignIn: Sendable {
  /// How many codes a player may try.
  static let attemptsMax = 5

  let project: String
  let uid: String
  /// What the first was.
  let provider: String
  /// The password as it was, and what was void, when the first was looked at: if either changed since, it says nothing.
  let password: String?
  let validSince: Int64?
  let expiresAt: Int64
  /// What the sign-in changes once it is complete.
  let edit: @Sendable (inout AccountRecord) -> Void
  /// Codes that were tried.
  var attempts = 0
}

/// An authenticator that a player was given the secret of, and has shown no code of yet.
struct PendingEnrollment: Sendable {
  let project: String
  let uid: String
  let secret: AuthenticatorSecret
  let expiresAt: Int64
}
