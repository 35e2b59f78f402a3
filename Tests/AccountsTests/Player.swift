import Credentials
import StorageCore
import Synchronization
import Testing
import TreeModel

@testable import Accounts

/// A player with a session, or with the wait for a second factor.
struct Player {
  let account: AccountRecord
  let result: SignInResult
  var isNew = false

  var uid: String { account.uid }
  var idToken: String { result.tokens?.idToken ?? "" }
  var refreshToken: String { result.tokens?.refreshToken ?? "" }

  /// With what a sign-in goes on that waits for a second factor; nil if it does not.
  var pending: String? {
    guard case .secondFactorNeeded(let credential, _) = result else { return nil }
    return credential
  }

  init(account: AccountRecord, result: SignInResult) {
    self.account = account
    self.result = result
  }

  init(_ signedIn: SignedInAccount) {
    self.init(account: signedIn.account, result: signedIn.result)
    isNew = signedIn.isNew
  }

  /// The player after a change: with its tokens, or where it gave none with those from before.
  func after(_ update: UpdatedAccount) -> Player { Player(account: update.account, result: update.result ?? result) }
}

/// Takes letters instead of mailing them.
final class Letterbox: CodeMailing {
  private let letters = Mutex<[CodeMail]>([])

  var all: [CodeMail] { letters.withLock { $0 } }

  func message(for letter: CodeMail) -> (outlet: String, payload: String)? {
    letters.withLock { $0.append(letter) }
    return ("mail", "{}")
  }

  /// The code in the last letter.
  func lastCode() throws -> String {
    let letter = try #require(all.last)
    let link = try #require(AbsoluteURL(letter.link))
    return try #require(link.parameters.first { $0.name == "oobCode" }?.value)
  }
}
