package import Credentials
package import StorageCore
import TreeModel

/// What is asked before it happens.
package enum SignInOccasion: String, Sendable, Hashable, CaseIterable {
  /// An account comes into being by its player, or an anonymous one gets its first way to sign in.
  case creation = "beforeCreate"
  /// A session begins: what had to be shown was shown, a second factor included.
  case signIn = "beforeSignIn"
}

/// A sign-up or a sign-in that waits for a decision.
package struct SignInQuestion: Sendable {
  package let occasion: SignInOccasion
  /// The account as it would be.
  package let account: AccountRecord
  /// By what: `password`, `emailLink`, `anonymous`, `phone`, `custom`, or the id of a provider.
  package let method: String
  /// Whether an anonymous account gets its first way to sign in; false where an account comes into being.
  package let isUpgrade: Bool
  /// What was shown beside the first credential.
  package let secondFactor: UsedFactor?
  /// What the player brought from an identity provider; nil where something else was shown. A secret.
  package let credential: IdentityAssertion?

  /// What an answer is about. The times of an account differ from one attempt of a change to the next; nothing else may.
  struct Subject: Hashable {
    let occasion: SignInOccasion
    let method: String
    let uid: String
    let texts: [String?]
    let flags: [Bool]
  }

  var subject: Subject {
    Subject(
      occasion: occasion, method: method, uid: account.uid,
      texts: [account.email, account.phoneNumber, account.displayName, account.photoURL, account.claims, secondFactor?.text]
        + account.providers.sorted { $0.id < $1.id }.flatMap { [$0.id, $0.rawID, $0.email] },
      flags: [account.isEmailVerified, account.isDisabled, isUpgrade])
  }
}

/// That a sign-up or a sign-in may happen, and what becomes different by that.
package struct SignInAllowance: Sendable, Hashable {
  /// A name to show; an inner nil takes it away, nil leaves it.
  package var displayName: String??
  /// The address of a picture; likewise.
  package var photoURL: String??
  /// Whether nobody can sign in: what is disabled now is not signed in either.
  package var isDisabled: Bool?
  package var isEmailVerified: Bool?
  /// The account's claims, an object as JSON text; they take the place of those that it had.
  package var claims: String?
  /// Claims of this session's tokens only, an object as JSON text.
  package var sessionClaims: String?

  package init() {}

  /// Changes an account so.
  ///
  /// - Throws: `AccountError/decisionFailed(_:)` where the claims cannot be an account's.
  func apply(to record: inout AccountRecord, options: AccountOptions) throws {
    if let displayName { record.displayName = displayName }
    if let photoURL { record.photoURL = photoURL }
    if let isDisabled { record.isDisabled = isDisabled }
    if let isEmailVerified {
      // Emulators' tokens say so of an account without an address, too.
      record.isEmailVerified = isEmailVerified && (record.email != nil || options.followsEmulator)
    }
    if let claims { record.claims = try Self.checked(claims) }
  }

  /// The claims of a session beside those of a custom token, as JSON text.
  func extraClaims(beside other: String?) throws -> String? {
    guard let sessionClaims, let text = try Self.checked(sessionClaims) else { return other }
    guard let other, let own = try? JSONParser.parse(other).object else { return text }
    let added = try JSONParser.parse(text).object ?? []
    return JSON.object(own.filter { member in !added.contains { $0.key == member.key } } + added).compactText
  }

  /// The text of claims that an account may have; nil where there are none.
  private static func checked(_ text: String) throws -> String? {
    do {
      let claims = try ReservedClaims.claims(of: text)
      return claims.object?.isEmpty == false ? claims.compactText : nil
    } catch {
      throw AccountError.decisionFailed("The claims that it set are refused: \(error.wireMessage).")
    }
  }
}

/// Decides about sign-ups and sign-ins: the deployment's own functions.
package protocol SignInDeciding: Sendable {
  /// What a project's deployment wants to be asked.
  func occasions(of settings: AccountSettings) -> Set<SignInOccasion>

  /// Decides, within a bounded time.
  ///
  /// - Throws: `AccountError/refusedByDecision(_:)` where it is refused, `AccountError/decisionFailed(_:)` where nothing
  ///   was decided: then it does not happen either.
  func decide(_ question: SignInQuestion, settings: AccountSettings, context: AccountContext) async throws -> SignInAllowance
}

/// What was decided so far about one change of accounts; on the writer.
struct SignInDecisions: Sendable {
  /// What has to be asked.
  let occasions: Set<SignInOccasion>
  private var allowances: [SignInQuestion.Subject: SignInAllowance] = [:]

  init(occasions: Set<SignInOccasion>) { self.occasions = occasions }

  mutating func add(_ allowance: SignInAllowance, to question: SignInQuestion) { allowances[question.subject] = allowance }

  /// What was decided; nil where nobody wants to be asked.
  ///
  /// - Throws: ``Open`` where it is not decided yet: nothing of the change stays, and it is tried again with the answer.
  func allowance(for question: SignInQuestion) throws -> SignInAllowance? {
    guard occasions.contains(question.occasion) else { return nil }
    guard let allowance = allowances[question.subject] else { throw Open(question: question) }
    return allowance
  }

  /// A question that nobody has answered yet.
  struct Open: Error {
    let question: SignInQuestion
  }
}
