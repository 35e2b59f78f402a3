import Accounts
import Credentials
import FunctionsKit
import Logging
import StorageCore
import Synchronization
import TreeModel

/// Asks the deployment's own functions before an account is made and before a session begins: first those in Swift, then the
/// addresses of the project's configuration.
///
/// What throws, takes too long or answers what cannot be read lets nobody in: a studio that refuses accounts wants to refuse
/// them, too, while its function is broken.
final class DeploymentDecisions: SignInDeciding {
  /// Decisions under way at once, those included that nobody waits for any more: more are refused.
  static let runningMax = 256
  /// The longest reason that a player is told, in characters.
  private static let reasonMax = 500

  private let functions: [SignInOccasion: Functions.SignInDecision]
  private let target: DecisionTarget
  private let clock: any WallClock
  private let logger: Logger
  private let running = Mutex(0)

  init(_ functions: Functions, target: DecisionTarget, clock: any WallClock, logger: Logger) {
    var decisions: [SignInOccasion: Functions.SignInDecision] = [:]
    decisions[.creation] = functions.creationDecision
    decisions[.signIn] = functions.signInDecision
    self.functions = decisions
    self.target = target
    self.clock = clock
    self.logger = logger
  }

  func occasions(of settings: AccountSettings) -> Set<SignInOccasion> {
    Set(functions.keys).union(settings.decisionTargets.keys)
  }

  func decide(_ question: SignInQuestion, settings: AccountSettings, context: AccountContext) async throws -> SignInAllowance {
    var allowance = SignInAllowance()
    if let function = functions[question.occasion] {
      allowance = try await asked(question.occasion.rawValue) { try await Self.answer(of: function, to: question, context) }
    }
    if let url = settings.decisionTargets[question.occasion], question.isForTargets {
      let target = target
      let answer = try await asked("\(question.occasion.rawValue) at \(url)") {
        try await target.ask(url, question, forwarding: settings.forwardedCredentials, context: context)
      }
      allowance = allowance.followed(by: answer)
    }
    return allowance
  }

  private static func answer(
    of function: Functions.SignInDecision, to question: SignInQuestion, _ context: AccountContext
  ) async throws -> SignInAllowance {
    let account = try TreeNodeDecoder.decode(PlayerAccount.self, from: question.account.publicNode)
    // A link in a mail is a password to Swift functions, as it is to tokens.
    let attempt = SignInAttempt(
      method: question.method == "emailLink" ? "password" : question.method, isUpgrade: question.isUpgrade,
      network: context.network, locales: context.locales)
    let verdict = try await function(account, attempt)
    if let refusal = verdict.refusal { throw AccountError.refusedByDecision(String(refusal.prefix(reasonMax))) }
    var allowance = SignInAllowance()
    allowance.displayName = verdict.displayName.map { .some($0) }
    allowance.claims = verdict.claims?.compactText
    allowance.sessionClaims = question.occasion == .signIn ? verdict.sessionClaims?.compactText : nil
    allowance.isEmailVerified = verdict.isEmailVerified
    return allowance
  }

  /// Waits for an answer, for as long as a decision may take.
  private func asked(_ name: String, _ ask: @escaping @Sendable () async throws -> SignInAllowance) async throws
    -> SignInAllowance
  {
    let isFull = running.withLock { running in
      guard running < Self.runningMax else { return true }
      running += 1
      return false
    }
    guard !isFull else { throw AccountError.unavailable("\(name) has too many sign-ins waiting; try again.") }
    // The time begins before the function does.
    let (seconds, _) = Functions.decisionDeadline.components
    let deadline = clock.now() + seconds * 1000
    let race = AnswerRace()
    let work = Task { [self] in
      let result: Result<SignInAllowance, any Error>
      do { result = .success(try await ask()) } catch { result = .failure(error) }
      running.withLock { $0 -= 1 }
      race.finish(result)
    }
    let timer = Task { [clock] in
      guard (try? await clock.sleep(until: deadline)) != nil else { return }
      race.finish(.failure(AccountError.decisionFailed("\(name) took longer than \(seconds) seconds.")))
      work.cancel()
    }
    defer { timer.cancel() }
    do {
      return try await race.result()
    } catch {
      throw noted(error, of: name)
    }
  }

  /// What the player is told of a failure: nothing of its inside, which the log has.
  private func noted(_ error: any Error, of name: String) -> AccountError {
    if let error = error as? AccountError {
      if case .refusedByDecision = error { return error }
      logger.error("\(name) decided nothing, so nobody was let in", metadata: ["reason": "\(error)"])
      return error
    }
    logger.error("\(name) decided nothing, so nobody was let in", metadata: ["reason": "\(error)"])
    return .decisionFailed("\(name) failed.")
  }
}

extension SignInQuestion {
  /// Whether Firebase would ask an address, too: it does not about anonymous players and custom tokens
  /// (https://firebase.google.com/docs/auth/extend-with-blocking-functions), nor when an account gets another way to sign in.
  fileprivate var isForTargets: Bool { method != "anonymous" && method != "custom" && !isUpgrade }
}

extension SignInAllowance {
  /// This one, with what a later one says in its place.
  fileprivate func followed(by later: SignInAllowance) -> SignInAllowance {
    var both = self
    if let name = later.displayName { both.displayName = name }
    if let url = later.photoURL { both.photoURL = url }
    both.isDisabled = later.isDisabled ?? isDisabled
    both.isEmailVerified = later.isEmailVerified ?? isEmailVerified
    both.claims = later.claims ?? claims
    both.sessionClaims = later.sessionClaims ?? sessionClaims
    return both
  }
}

/// The first of two results wins: the answer's, or the clock's.
private final class AnswerRace: Sendable {
  private struct State {
    var result: Result<SignInAllowance, any Error>?
    var waiting: CheckedContinuation<SignInAllowance, any Error>?
  }

  private let state = Mutex(State())

  func finish(_ result: Result<SignInAllowance, any Error>) {
    let waiting = state.withLock { state -> CheckedContinuation<SignInAllowance, any Error>? in
      guard state.result == nil else { return nil }
      state.result = result
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(with: result)
  }

  func result() async throws -> SignInAllowance {
    try await withCheckedThrowingContinuation { continuation in
      let result = state.withLock { state -> Result<SignInAllowance, any Error>? in
        if state.result == nil { state.waiting = continuation }
        return state.result
      }
      if let result { continuation.resume(with: result) }
    }
  }
}
