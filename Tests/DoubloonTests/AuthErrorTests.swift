import ClientRuntime
import Foundation
import ServerTestSupport
import Testing
import TreeModel

@testable import Doubloon

/// Why calls about accounts fail: codes, sentences, and what stays as it was.
@Suite struct AuthErrorTests {
  @Test(
    "an error has Firebase's number and name as NSError",
    arguments: [
      (AuthErrorCode.invalidCustomToken, 17000, "ERROR_INVALID_CUSTOM_TOKEN"), (.userDisabled, 17005, "ERROR_USER_DISABLED"),
      (.operationNotAllowed, 17006, "ERROR_OPERATION_NOT_ALLOWED"), (.emailAlreadyInUse, 17007, "ERROR_EMAIL_ALREADY_IN_USE"),
      (.wrongPassword, 17009, "ERROR_WRONG_PASSWORD"), (.tooManyRequests, 17010, "ERROR_TOO_MANY_REQUESTS"),
      (.userNotFound, 17011, "ERROR_USER_NOT_FOUND"), (.requiresRecentLogin, 17014, "ERROR_REQUIRES_RECENT_LOGIN"),
      (.providerAlreadyLinked, 17015, "ERROR_PROVIDER_ALREADY_LINKED"), (.networkError, 17020, "ERROR_NETWORK_REQUEST_FAILED"),
      (.userTokenExpired, 17021, "ERROR_USER_TOKEN_EXPIRED"),
      (.credentialAlreadyInUse, 17025, "ERROR_CREDENTIAL_ALREADY_IN_USE"),
      (.weakPassword, 17026, "ERROR_WEAK_PASSWORD"), (.invalidAPIKey, 17023, "ERROR_INVALID_API_KEY"),
      (.missingContinueURI, 17040, "ERROR_MISSING_CONTINUE_URI"),
    ])
  func numbers(code: AuthErrorCode, number: Int, name: String) {
    for error in [AuthError(code, email: "a@x.io") as any Error, code] {
      let bridged = error as NSError
      #expect(bridged.code == number)
      #expect(bridged.domain == "FIRAuthErrorDomain")
      #expect(bridged.userInfo["FIRAuthErrorUserInfoNameKey"] as? String == name)
      #expect(!bridged.localizedDescription.isEmpty)
    }
    do { throw AuthError(code) } catch let error as AuthError where error.code == code { return } catch {
      Issue.record("\(code) is not caught")
    }
  }

  @Test(
    "a link that is refused leaves the anonymous session as it was",
    arguments: [
      ("EMAIL_EXISTS", 17007), ("FEDERATED_USER_ID_ALREADY_LINKED", 17025), ("PHONE_NUMBER_EXISTS", 17025),
      ("WEAK_PASSWORD : Password should be at least 6 characters", 17026), ("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", 17014),
      ("OPERATION_NOT_ALLOWED", 17006), ("TOO_MANY_ATTEMPTS_TRY_LATER", 17010), ("SOMETHING_ELSE", 17999),
    ])
  func linkRefused(message: String, expected: Int) async throws {
    try await AppServer.run { server in
      let http = server.counting()
      let auth = server.app(http: http).authentication
      let user = try await auth.signInAnonymously().user
      http.answer { $0.target.hasPrefix("/v1/accounts:signUp") ? .refusal(message) : nil }
      let credential = EmailAuthProvider.credential(withEmail: "ann@acme.test", password: "secret1")
      let error = await failure { try await user.link(with: credential) }
      #expect(number(of: error) == expected)
      #expect(auth.currentUser === user)
      #expect(user.isAnonymous)
      http.answer(nil)
      try await user.link(with: credential)
      #expect(!user.isAnonymous)
    }
  }

  @Test("the server's own refusals: a taken address, a weak password, a wrong password, an unknown account")
  func realRefusals() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      try await auth.createUser(withEmail: "ann@acme.test", password: "secret1")
      let calls: [(AuthErrorCode, () async throws -> Void)] = [
        (.emailAlreadyInUse, { try await auth.createUser(withEmail: "ann@acme.test", password: "secret2") }),
        (.weakPassword, { try await auth.createUser(withEmail: "bob@acme.test", password: "123") }),
        (.invalidEmail, { try await auth.createUser(withEmail: "nobody", password: "secret1") }),
        (.wrongPassword, { try await auth.signIn(withEmail: "ann@acme.test", password: "secret2") }),
        (.userNotFound, { try await auth.signIn(withEmail: "zoe@acme.test", password: "secret2") }),
        (.invalidCustomToken, { try await auth.signIn(withCustomToken: "nonsense") }),
        (.invalidActionCode, { try await auth.applyActionCode("nonsense") }),
      ]
      for (code, call) in calls {
        let error = await failure(call)
        #expect((error as? AuthError)?.code == code, "\(code): \(String(describing: error))")
      }
      #expect(auth.currentUser?.email == "ann@acme.test")
    }
  }

  @Test("without a configuration every call fails with a sentence, and nothing traps")
  func notConfigured() async throws {
    let app = DoubloonApp.unconfigured
    let url = try webURL("https://go.acme.test/r/aB3x")
    let errors = await [
      failure { try await app.authentication.signInAnonymously() },
      failure { try await app.authentication.sendPasswordReset(withEmail: "a@x.io") },
    ]
    for error in errors {
      #expect((error as? AuthError)?.code == .notConfigured)
      #expect("\(String(describing: error))".contains("configure"))
    }
    #expect(app.authentication.currentUser == nil)
    #expect(await failure { _ = try await app.links.resolveShortLink(url) } is DynamicLinksError)
  }

  @Test("no server, another kind of server, a wrong scheme and a key that cannot be sent: an error that says what to do")
  func badServers() async throws {
    try await TinyServer.run({ _ in TinyServer.Answer(status: 200, body: Array("<html>hello".utf8)) }) { tiny in
      let cases: [(String, String)] = [
        ("http://127.0.0.1:1", "online"), (tiny.address, "is that a Doubloon server"),
        (tiny.address.replacingOccurrences(of: "http:", with: "https:"), "is it http, not https"),
        ("http://no-such-host.invalid", "address right"),
      ]
      for (address, words) in cases {
        let options = FirebaseOptions(server: try webURL(address), apiKey: "k")
        options.storageFolder = "/nonexistent/folder"
        options.logHandler = { _ in }
        let app = DoubloonApp(name: "bad", options: options, runtime: nil)
        let error = await failure { try await app.authentication.signInAnonymously() }
        #expect((error as? AuthError)?.code == .networkError, "\(address): \(String(describing: error))")
        #expect("\(String(describing: error))".contains(words), "\(address): \(String(describing: error))")
        #expect(app.authentication.currentUser == nil)
      }
    }
  }

  @Test("a folder that cannot be written costs the session at the end of the app, and nothing else")
  func readOnly() async throws {
    try await AppServer.run { server in
      let lines = Locked<[String]>([])
      let app = server.app { options in
        options.storageFolder = "/proc/nothing"
        options.logHandler = { line in lines.withLock { $0.append(line) } }
      }
      let user = try await app.authentication.signInAnonymously().user
      #expect(app.authentication.currentUser === user)
      #expect(lines.copy.contains { $0.contains("cannot be kept") })
      #expect(!lines.copy.joined().contains(try await user.getIDToken()))
    }
  }
}
