import ClientRuntime
import Foundation
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import Doubloon

/// Accounts against a real server: who is signed in, and stays so.
@Suite struct AuthTests {
  @Test("an anonymous player is the same after a restart, and the server is not asked")
  func restart() async throws {
    try await AppServer.run { server in
      let user = try await server.app().authentication.signInAnonymously().user
      #expect(user.isAnonymous)
      let http = server.counting()
      let again = server.app(http: http).authentication
      #expect(again.currentUser?.uid == user.uid)
      #expect(again.currentUser?.isAnonymous == true)
      #expect(http.targets.isEmpty)
    }
  }

  @Test("the session is a file that only its owner can read; one that cannot be read signs out")
  func sessionFile() async throws {
    try await AppServer.run { server in
      let app = server.app()
      try await app.authentication.signInAnonymously()
      let folder = server.folder.path + "/app"
      let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasPrefix("session") })
      let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
      for text in ["", "{", "[1]", #"{"version":99}"#] {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
        #expect(server.app().authentication.currentUser == nil, "\(text)")
      }
    }
  }

  @Test("signing in anonymously twice, or twenty times at once, makes one account")
  func once() async throws {
    try await AppServer.run { server in
      let http = server.counting()
      let auth = server.app(http: http).authentication
      let uids = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<20 { group.addTask { try await auth.signInAnonymously().user.uid } }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(uids.count == 1)
      #expect(http.targets == ["/v1/accounts:signUp"])
    }
  }

  @Test("linking an address keeps the uid, and the player is anonymous no more")
  func link() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      let user = try await auth.signInAnonymously().user
      let token = try await user.getIDToken()
      let result = try await user.link(with: EmailAuthProvider.credential(withEmail: "ann@acme.test", password: "secret1"))
      #expect(result.user === user)
      #expect(result.uid == user.uid)
      #expect(!user.isAnonymous)
      #expect(user.providerData.map(\.providerID) == ["password"])
      #expect(user.email == "ann@acme.test")
      #expect(try await user.getIDToken() != token)
      let elsewhere = try await server.app("other").authentication.signIn(withEmail: "ann@acme.test", password: "secret1")
      #expect(elsewhere.user.uid == user.uid)
    }
  }

  @Test("a second link of the same provider is refused without asking the server")
  func linkTwice() async throws {
    try await AppServer.run { server in
      let http = server.counting()
      let auth = server.app(http: http).authentication
      let user = try await auth.signInAnonymously().user
      try await user.link(with: EmailAuthProvider.credential(withEmail: "ann@acme.test", password: "secret1"))
      http.forget()
      let error = await failure {
        try await user.link(with: EmailAuthProvider.credential(withEmail: "bob@acme.test", password: "secret1"))
      }
      #expect((error as? AuthError)?.code == .providerAlreadyLinked)
      #expect(number(of: error) == 17015)
      #expect(http.targets.isEmpty)
    }
  }

  @Test("a link whose answer was lost succeeds when it is tried again")
  func lostAnswer() async throws {
    try await AppServer.run { server in
      let http = server.counting()
      let auth = server.app(http: http).authentication
      let user = try await auth.signInAnonymously().user
      let real = NIOTransportBox()
      http.answer { request in
        guard request.target.hasPrefix("/v1/accounts:signUp") else { return nil }
        real.send(request)
        throw TransportError(.disconnected, "The connection broke.")
      }
      let credential = EmailAuthProvider.credential(withEmail: "ann@acme.test", password: "secret1")
      let lost = await failure { try await user.link(with: credential) }
      #expect((lost as? AuthError)?.code == .networkError)
      #expect(user.isAnonymous)
      try await real.finish()
      http.answer(nil)
      try await user.link(with: credential)
      #expect(!user.isAnonymous)
      #expect(auth.currentUser === user)
    }
  }

  @Test("upgrading with an address that is taken says so, and the player stays who they were")
  func upgrade() async throws {
    try await AppServer.run { server in
      let other = server.app("other").authentication
      let taken = try await other.createUser(withEmail: "ann@acme.test", password: "secret1").user
      try await server.api.setRules(#"{"users": {"$uid": {".write": "auth.uid == $uid"}}}"#)
      let app = server.app()
      let auth = app.authentication
      let user = try await auth.signInAnonymously().user
      let credential = EmailAuthProvider.credential(withEmail: "ann@acme.test", password: "secret1")
      guard case .taken(let existing, let anonymous) = try await user.upgrade(with: credential) else {
        Issue.record("the address was linked")
        return
      }
      #expect(anonymous === user)
      #expect(auth.currentUser === user)
      #expect(user.isAnonymous)
      let database = Doubloon.Database.database(app: app)
      try await database.reference(withPath: "users/\(user.uid)/level").setValue(3)
      database.goOffline()
      #expect(try await auth.signIn(with: existing).user.uid == taken.uid)
      #expect(auth.currentUser?.uid == taken.uid)
    }
  }

  @Test("a token with five minutes left is given out, one with less is replaced; twenty who ask at once ask the server once")
  func refresh() async throws {
    try await AppServer.run { server in
      let http = server.counting()
      let auth = server.app(http: http).authentication
      let user = try await auth.signInAnonymously().user
      http.forget()
      server.clock.move(3600 - 301)
      _ = try await user.getIDToken()
      #expect(http.targets.isEmpty)
      server.clock.move(2)
      let tokens = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<20 { group.addTask { try await user.getIDToken() } }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(tokens.count == 1)
      #expect(http.targets == ["/v1/token"])
    }
  }

  @Test("a failed refresh by timer is tried again after 1, 2 and 4 minutes")
  func backoff() async throws {
    try await AppServer.run { server in
      let http = server.counting()
      let auth = server.app(http: http).authentication
      let heard = Locked<[String?]>([])
      _ = auth.observeSocketToken { _, uid in heard.withLock { $0.append(uid) } }
      let user = try await auth.signInAnonymously().user
      http.answer { _ in throw TransportError(.unreachable, "Nobody is there.") }
      try await reached { server.clock.waits.contains { $0 > 3000 } }
      server.clock.move(3300)
      for seconds in [60.0, 120, 240] {
        try await reached { server.clock.waits.first == seconds }
        server.clock.move(seconds)
      }
      #expect(auth.currentUser === user)
      #expect(heard.copy.first == .some(nil))
      #expect(heard.copy.last == user.uid)
    }
  }

  @Test(
    "a session that the server has ended signs out; trouble on the way does not",
    arguments: [
      ("USER_DISABLED", true), ("USER_NOT_FOUND", true), ("TOKEN_EXPIRED", true), ("INVALID_REFRESH_TOKEN", false),
      ("TOO_MANY_ATTEMPTS_TRY_LATER", false),
    ])
  func ended(word: String, signsOut: Bool) async throws {
    try await AppServer.run { server in
      let http = server.counting()
      let auth = server.app(http: http).authentication
      let user = try await auth.signInAnonymously().user
      let told = Locked<[String?]>([])
      _ = auth.listen(hearsTokens: false) { user in told.withLock { $0.append(user?.uid) } }
      http.answer { _ in .refusal(word) }
      let error = await failure { _ = try await user.getIDToken(forcingRefresh: true) }
      #expect(error is AuthError)
      #expect((auth.currentUser == nil) == signsOut)
      #expect(told.copy == (signsOut ? [user.uid, nil] : [user.uid]))
    }
  }

  @Test("a token that only the server takes for ended is replaced, and the call succeeds")
  func wrongClock() async throws {
    try await AppServer.run { server in
      let http = server.counting()
      let auth = server.app(http: http).authentication
      let user = try await auth.signInAnonymously().user
      let isFirst = Locked(true)
      http.answer { request in
        guard request.target.hasPrefix("/v1/accounts:lookup") else { return nil }
        return isFirst.withLock { first in
          defer { first = false }
          return first ? .refusal("TOKEN_EXPIRED") : nil
        }
      }
      try await user.reload()
      #expect(auth.currentUser === user)
      #expect(http.targets.suffix(3) == ["/v1/accounts:lookup", "/v1/token", "/v1/accounts:lookup"])
    }
  }

  @Test("who is signed in comes as news: first the present state; an ended task hears no more")
  func changes() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      var changes = auth.authStateChanges.map { $0?.uid ?? "nobody" }.makeAsyncIterator()
      #expect(await changes.next() == "nobody")
      let user = try await auth.signInAnonymously().user
      #expect(await changes.next() == user.uid)
      try auth.signOut()
      #expect(await changes.next() == "nobody")
      let before = auth.state.withLock { $0.listeners.count }
      let task = Task { for await _ in auth.idTokenChanges {} }
      try await reached { auth.state.withLock { $0.listeners.count } == before + 1 }
      task.cancel()
      await task.value
      try await reached { auth.state.withLock { $0.listeners.count } == before }
    }
  }
}

/// Waits for a condition, which another thread makes true.
func reached(_ condition: () -> Bool) async throws {
  let end = ContinuousClock.now + .seconds(120)
  while ContinuousClock.now < end {
    if condition() { return }
    await Task.yield()
  }
  Issue.record("the condition was not reached")
}

/// Sends a request behind the back of its sender, who believes that it was lost.
private final class NIOTransportBox: Sendable {
  private let task = Locked<Task<Void, any Error>?>(nil)

  func send(_ request: HTTPRequest) {
    let transport = AppRuntime(FirebaseOptions(FirebaseOptions.Members())).http
    task.withLock { $0 = Task { _ = try await transport.send(request) } }
  }

  func finish() async throws { try await task.copy?.value }
}
