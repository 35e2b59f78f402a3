import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// What goes by itself: accounts that nobody uses, and sessions that ended.
struct SweepTests {
  @Test("Accounts that are kept for good, however many, keep no other from being found")
  func cursor() async throws {
    try await AccountFixture.run({ $0.sweepPage = 2 }) { house in
      var kept: Set<String> = []
      for _ in 0..<25 { kept.insert(try await house.anonymous().uid) }
      house.clock.advance(by: 1000)
      let unused = try await house.anonymous().uid
      house.clock.advance(by: 31 * AccountFixture.day)
      let attached = kept
      var removed: [Int] = []
      for _ in 0..<3 {
        removed.append(
          try await house.book.sweep(house.project) { (uid, _) throws(StorageError) in attached.contains(uid) })
      }
      // A round looks at ten pages; the second one comes by, the third begins anew.
      #expect(removed == [0, 1, 0])
      #expect(try house.book.account(unused, of: house.project) == nil)
      for uid in kept { #expect(try house.book.account(uid, of: house.project) != nil) }
      let rest = try await house.book.sweep(house.project) { (_, _) throws(StorageError) in false }
      #expect(rest + (try await house.book.sweep(house.project) { (_, _) throws(StorageError) in false }) == 25)
    }
  }

  @Test("A session that was not used for the configured time has ended; one in use goes on")
  func idle() async throws {
    try await AccountFixture.run({
      $0.sessionIdleMax = 10 * AccountFixture.day
      $0.anonymousLifetime = nil
    }) { house in
      let (used, idle) = (try await house.anonymous(), try await house.anonymous())
      for _ in 0..<3 {
        house.clock.advance(by: 4 * AccountFixture.day)
        #expect(await house.refresh(used.token) == "ok")
      }
      #expect(await house.refresh(idle.token) == "TOKEN_EXPIRED")
      // The client that comes back is told for a month; then the row goes.
      _ = try await house.book.sweep(house.project) { (_, _) throws(StorageError) in true }
      #expect(try house.sessions(of: idle.uid) == 1)
      for _ in 0..<4 {
        house.clock.advance(by: 8 * AccountFixture.day)
        #expect(await house.refresh(used.token) == "ok")
      }
      _ = try await house.book.sweep(house.project) { (_, _) throws(StorageError) in true }
      #expect(try house.sessions(of: idle.uid) == 0)
      #expect(try house.sessions(of: used.uid) == 1)
      #expect(await house.refresh(idle.token) == "INVALID_REFRESH_TOKEN")
    }
  }

  @Test("Sessions that a password made void, and those of before the link, go a month later")
  func voided() async throws {
    try await AccountFixture.run({ $0.anonymousLifetime = nil }) { house in
      let made = try await house.book.signUp(house.call([:]))
      let uid = made["localId"]?.string ?? ""
      house.clock.advance(by: 2000)
      let linked = try await house.book.signUp(
        house.call(["idToken": made["idToken"] ?? .null, "email": "jim@x.io", "password": "secret1"]))
      house.clock.advance(by: 120_000)
      #expect(await house.refresh(made["refreshToken"]?.string ?? "") == "TOKEN_EXPIRED")
      let changed = try await house.book.update(house.call(["idToken": linked["idToken"] ?? .null, "password": "secret2"]))
      #expect(await house.refresh(linked["refreshToken"]?.string ?? "") == "TOKEN_EXPIRED")
      #expect(try house.sessions(of: uid) == 3)
      house.clock.advance(by: 31 * AccountFixture.day)
      _ = try await house.book.sweep(house.project) { (_, _) throws(StorageError) in true }
      #expect(try house.sessions(of: uid) == 1)
      #expect(await house.refresh(changed["refreshToken"]?.string ?? "") == "ok")
    }
  }

  @Test("What makes sessions void makes void one that was used in the same second")
  func sameSecond() async throws {
    try await AccountFixture.run { house in
      let player = try await house.anonymous()
      house.clock.advance(by: 2 * AccountFixture.day)
      #expect(await house.refresh(player.token) == "ok")
      _ = try await house.book.update(
        house.call(
          ["localId": .string(player.uid), "validSince": .int(house.clock.now() / 1000)], isPrivileged: true))
      #expect(await house.refresh(player.token) == "TOKEN_EXPIRED")
    }
  }

  @Test("An account has a bounded number of sessions: of more the longest unused end")
  func bound() async throws {
    try await AccountFixture.run({ $0.sessionsMax = 3 }) { house in
      let made = try await house.book.signUp(house.call(["email": "jim@x.io", "password": "secret1"]))
      let uid = made["localId"]?.string ?? ""
      var tokens = [made["refreshToken"]?.string ?? ""]
      for _ in 0..<4 {
        house.clock.advance(by: 2 * AccountFixture.day)
        #expect(await house.refresh(tokens[0]) == "ok")
        let again = try await house.book.signInWithPassword(house.call(["email": "jim@x.io", "password": "secret1"]))
        tokens.append(again["refreshToken"]?.string ?? "")
      }
      #expect(try house.sessions(of: uid) == 3)
      var answers: [String] = []
      for token in tokens { answers.append(await house.refresh(token)) }
      #expect(answers == ["ok", "INVALID_REFRESH_TOKEN", "INVALID_REFRESH_TOKEN", "ok", "ok"])
    }
  }

  @Test("A validSince that no clock reaches is answered, not computed with")
  func extremes() async throws {
    try await AccountFixture.run { house in
      let player = try await house.anonymous()
      for (value, expected) in [(Int64.min, "ok"), (Int64.max, "TOKEN_EXPIRED")] {
        _ = try await house.book.update(
          house.call(["localId": .string(player.uid), "validSince": .int(value)], isPrivileged: true))
        #expect(await house.refresh(player.token) == expected)
      }
    }
  }
}
