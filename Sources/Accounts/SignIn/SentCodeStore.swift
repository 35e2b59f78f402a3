import Synchronization

/// A code that was mailed, as development shows it.
package struct MailedCode: Sendable, Hashable {
  let project: String
  package let email: String
  package let newEmail: String?
  /// What it does, as `StorageCore/AccountCodeRecord/Kind` names it.
  package let kind: String
  package let code: String
  package let link: String
}

/// A code that was sent to a telephone.
package struct PhoneCode: Sendable, Hashable {
  /// What a code is for.
  enum Purpose: Sendable, Hashable {
    case signIn
    /// To enrol the number as a second factor of an account.
    case enrollment(uid: String)
    /// To show a second factor.
    case secondFactor(uid: String, id: String)
  }

  let project: String
  package let phoneNumber: String
  let purpose: Purpose
  package let session: String
  package let code: String
  let expiresAt: Int64
  var attempts = 0
}

/// That the owner of a number has shown to own it, where the number is another account's.
struct PhoneProof: Sendable {
  let project: String
  let phoneNumber: String
  let expiresAt: Int64
}

/// What was sent to players, kept in memory for development: the codes of mails, and those of phones.
///
/// Codes of phones are kept here in production too, for as long as they are good; of mails the store has a hash.
final class SentCodeStore: Sendable {
  private struct State {
    var mailed: [MailedCode] = []
    var phoneCodes: [PhoneCode] = []
    var proofs: [String: PhoneProof] = [:]
  }

  private let state = Mutex(State())
  private static let most = 10_000
  /// Six digits are soon guessed.
  private static let attemptsMax = 5

  func add(_ code: MailedCode) {
    state.withLock { state in
      state.mailed.append(code)
      if state.mailed.count > Self.most { state.mailed.removeFirst(Self.most / 10) }
    }
  }

  func mailed(of project: String) -> [MailedCode] { state.withLock { $0.mailed.filter { $0.project == project } } }

  /// Forgets a code that was used.
  func remove(code: String) {
    state.withLock { state in state.mailed.removeAll { $0.code == code } }
  }

  func add(_ code: PhoneCode, at now: Int64) {
    state.withLock { state in
      state.phoneCodes.removeAll { $0.expiresAt <= now }
      state.phoneCodes.append(code)
      if state.phoneCodes.count > Self.most { state.phoneCodes.removeFirst(Self.most / 10) }
    }
  }

  func phoneCodes(of project: String, at now: Int64) -> [PhoneCode] {
    state.withLock { $0.phoneCodes.filter { $0.project == project && $0.expiresAt > now } }
  }

  /// Uses up a phone's code.
  ///
  /// - `purpose`: a code that was sent for something else counts as unknown.
  /// - Returns: the number that it was sent to.
  func redeem(
    session: String, code: String, for purpose: PhoneCode.Purpose, of project: String, at now: Int64
  ) throws -> String {
    try state.withLock { state in
      let sent = state.phoneCodes.firstIndex {
        $0.session == session && $0.project == project && $0.purpose == purpose
      }
      guard let index = sent else { throw AccountError.unknownCodeSession }
      guard state.phoneCodes[index].expiresAt > now else { throw AccountError.expiredCodeSession }
      guard state.phoneCodes[index].code == code else {
        state.phoneCodes[index].attempts += 1
        if state.phoneCodes[index].attempts >= Self.attemptsMax { state.phoneCodes.remove(at: index) }
        throw AccountError.wrongOneTimeCode
      }
      return state.phoneCodes.remove(at: index).phoneNumber
    }
  }

  func add(_ proof: PhoneProof, token: String, at now: Int64) {
    state.withLock { state in
      state.proofs = state.proofs.filter { $0.value.expiresAt > now }
      if state.proofs.count < Self.most { state.proofs[token] = proof }
    }
  }

  func redeem(proof token: String, for number: String, of project: String, at now: Int64) throws {
    let proof = state.withLock { $0.proofs[token] }
    guard let proof, proof.project == project, proof.phoneNumber == number, proof.expiresAt > now else {
      throw AccountError.invalidPhoneProof
    }
  }
}
