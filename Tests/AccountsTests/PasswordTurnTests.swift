import Credentials
import TestSupport
import Testing

@testable import Accounts

/// Who is checked when: hashing is done when the test says so.
struct PasswordTurnTests {
  private func hashing(_ work: HeldWork, _ options: AccountOptions = AccountOptions()) -> PasswordHashingService {
    PasswordHashingService(
      PasswordHashing(hasher: PasswordHasher(cost: .test), threads: work.threads), options: options,
      random: { SplitMix64(seed: 1) })
  }

  private func attempt(_ hashing: PasswordHashingService, network: String, account: String) -> Task<String, Never> {
    Task {
      do {
        let verdict = try await hashing.check("wrong", against: nil, for: .init(network: network, account: account))
        return "\(verdict)"
      } catch AccountError.unavailable {
        return "busy"
      } catch {
        return "\(error)"
      }
    }
  }

  private func until(_ isTrue: () -> Bool) async {
    while !isTrue() { await Task.yield() }
  }

  @Test("a flood of wrong passwords from one network costs a sign-in from another one turn")
  func flood() async {
    let work = HeldWork()
    let hashing = hashing(work)
    var flood: [Task<String, Never>] = []
    // Two run, 32 wait; the others are refused at once.
    for number in 0..<34 {
      flood.append(attempt(hashing, network: "192.0.2.1", account: "p\(number)@example.com"))
      await until { work.count + hashing.waitingCount == number + 1 }
    }
    for number in 34..<40 {
      #expect(await attempt(hashing, network: "192.0.2.1", account: "p\(number)@example.com").value == "busy")
    }
    let player = attempt(hashing, network: "198.51.100.1", account: "jim@example.com")
    await until { hashing.waitingCount == 33 }
    // The two that run, the one whose turn it was, and the player.
    for _ in 0..<4 { work.runOne() }
    #expect(await player.value == "wrong")
    #expect(hashing.waitingCount == 29)
    while work.runOne() {}
    for one in flood { #expect(await one.value == "wrong") }
    #expect(hashing.waitingCount == 0)
  }

  @Test("where strangers took every place, a player still gets one")
  func full() async {
    let work = HeldWork()
    var options = AccountOptions()
    (options.hashingThreads, options.hashingQueueMax, options.hashingQueuePerNetwork) = (1, 4, 4)
    let hashing = hashing(work, options)
    var flood: [Task<String, Never>] = []
    for number in 0..<5 {
      flood.append(attempt(hashing, network: "192.0.2.1", account: "p\(number)@example.com"))
      await until { work.count + hashing.waitingCount == number + 1 }
    }
    let player = attempt(hashing, network: "198.51.100.1", account: "jim@example.com")
    // Refused as soon as the player has its place, before anything is run.
    #expect(await flood[1].value == "busy")
    while work.runOne() {}
    #expect(await player.value == "wrong")
    for (number, one) in flood.enumerated() where number != 1 { #expect(await one.value == "wrong") }
  }
}
