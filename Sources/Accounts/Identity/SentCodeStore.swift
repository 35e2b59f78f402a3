import Synchronization

/// What was sent to players, kept in memory for development: the codes of mails, and those of phones.
///
/// Codes of phones are kept here in production too, for as long as they are good; of mails the store has a hash.
final class SentCodeStore: Sendable {
  struct Letter: Sendable {
    let project: String
    let email: String
    let newEmail: String?
    let kind: String
    let code: String
    let link: String
  }

  struct PhoneCode: Sendable {
    let project: String
    let phoneNumber: String
    let purpose: PhoneCodePurpose
    let session: String
    let code: String
    let expiresAt: Int64
    var attempts = 0
  }

  /// That a number's owner has proved to own it, where the number is another account's.
  struct PhoneProof: Sendable {
    let project: String
    let phoneNumber: String
    let expiresAt: Int64
  }

  private struct State {
    var letters: [Letter] = []
    var phoneCodes: [PhoneCode] = []
    var proofs: [String: PhoneProof] = [:]
  }

  private let state = Mutex(State())
  private static let most = 10_000

  func add(_ letter: Letter) {
    state.withLock { state in
      state.letters.append(letter)
      if state.letters.count > Self.most { state.letters.removeFirst(Self.most / 10) }
    }
  }

  func letters(of project: String) -> [Letter] { state.withLock { $0.letters.filter { $0.project == project } } }

  /// Forgets a code that was used.
  func remove(code: String) {
    state.withLock { state in state.letters.removeAll { $0.code == code } }
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

  /// Uses up a phone's code: the number that it was sent to.
  ///
  /// - `purpose`: a code that was sent for something else is none.
  func redeem(
    session: String, code: String, for purpose: PhoneCodePurpose, of project: String, at now: Int64
  ) throws(AccountError) -> String {
    let result: Result<String, AccountError> = state.withLock { state in
      guard
        let index = state.phoneCodes.firstIndex(where: {
          $0.session == session && $0.project == project && $0.purpose == purpose
        })
      else {
        return .failure(AccountError("INVALID_SESSION_INFO"))
      }
      guard state.phoneCodes[index].expiresAt > now else { return .failure(AccountError("SESSION_EXPIRED")) }
      guard state.phoneCodes[index].code == code else {
        // Six digits are soon guessed: five attempts.
        state.phoneCodes[index].attempts += 1
        if state.phoneCodes[index].attempts >= 5 { state.phoneCodes.remove(at: index) }
        return .failure(AccountError("INVALID_CODE"))
      }
      return .success(state.phoneCodes.remove(at: index).phoneNumber)
    }
    return try result.get()
  }

  func add(_ proof: PhoneProof, token: String, at now: Int64) {
    state.withLock { state in
      state.proofs = state.proofs.filter { $0.value.expiresAt > now }
      if state.proofs.count < Self.most { state.proofs[token] = proof }
    }
  }

  func redeem(proof token: String, for number: String, of project: String, at now: Int64) throws(AccountError) {
    let proof = state.withLock { $0.proofs[token] }
    guard let proof, proof.project == project, proof.phoneNumber == number, proof.expiresAt > now else {
      throw AccountError("INVALID_TEMPORARY_PROOF")
    }
  }
}

/// What a code that went to a telephone is for.
enum PhoneCodePurpose: Sendable, Hashable {
  case signIn
  /// To enrol the number as a second factor of an account.
  case enrollment(uid: String)
  /// To show a second factor.
  case secondFactor(uid: String, id: String)
}
