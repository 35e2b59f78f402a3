@testable import HTTPServer
import NIOPosix
import ServerTestSupport
import Synchronization
import Testing

/// Who gives way when memory is short.
struct ByteBudgetTests {
  /// Who was told to let go, in order.
  private final class Told: Sendable {
    private let names = Mutex<[String]>([])
    func add(_ name: String) { names.withLock { $0.append(name) } }
    var all: [String] { names.withLock { $0.sorted() } }
  }

  private let budget = ByteBudget(bytesMax: 16 * ByteShare.step)
  private let told = Told()

  private func share(_ name: String, _ address: String) throws -> ByteShare {
    let client = try #require(ClientAddress(parsing: address))
    return budget.share(of: client) { [told] in told.add(name) }
  }

  private static func steps(_ count: Int) -> Int { count * ByteShare.step }

  @Test("Strangers give way to users, of strangers the network that holds most, of that network the largest")
  func order() throws {
    let user = try share("user", "10.0.0.1")
    #expect(user.hold(Self.steps(8), as: .user))
    let few = try share("few", "10.0.0.2")
    #expect(few.hold(Self.steps(3), as: .unauthenticated))
    let (small, large) = (try share("small", "10.0.0.3"), try share("large", "10.0.0.3"))
    #expect(small.hold(Self.steps(2), as: .unauthenticated) && large.hold(Self.steps(3), as: .unauthenticated))
    #expect(budget.used == Self.steps(16) && told.all.isEmpty)
    let other = try share("other", "10.0.0.4")
    #expect(other.hold(Self.steps(1), as: .user))
    #expect(told.all == ["large"])
    #expect(!large.hold(Self.steps(4), as: .unauthenticated), "what was given up holds nothing any more")
    #expect(other.hold(Self.steps(8), as: .user))
    #expect(Set(told.all) == ["large", "few", "small"] && budget.refusals.current == 3 + 1)
  }

  @Test("Who asks for too much is refused itself if its network holds most; addresses of one network of 64 bits are one")
  func sameNetwork() throws {
    let (first, second) = (try share("first", "2001:db8::1"), try share("second", "2001:db8::2"))
    let other = try share("other", "2001:db8:0:1::1")
    #expect(first.hold(Self.steps(5), as: .unauthenticated) && other.hold(Self.steps(5), as: .unauthenticated))
    #expect(!second.hold(Self.steps(7), as: .unauthenticated))
    #expect(told.all.isEmpty && budget.used == Self.steps(10))
    #expect(other.hold(Self.steps(6), as: .unauthenticated))
  }

  @Test("What is worked on is not given up: then who comes last is refused")
  func work() throws {
    let work = try share("work", "10.0.0.1")
    #expect(work.hold(Self.steps(15), as: .unauthenticated, isReleasable: false))
    let next = try share("next", "10.0.0.2")
    #expect(!next.hold(Self.steps(2), as: .user))
    #expect(told.all.isEmpty && budget.used == Self.steps(15))
  }

  @Test("Alone anybody may have more than there is, an administrator is not counted, and small things cost nothing")
  func exempt() throws {
    let admin = try share("admin", "10.0.0.1")
    #expect(admin.hold(Self.steps(99), as: .administrator) && budget.used == 0)
    let small = try share("small", "10.0.0.1")
    #expect(small.hold(ByteShare.step - 1, as: .unauthenticated) && budget.used == 0)
    let alone = try share("alone", "10.0.0.2")
    #expect(alone.hold(Self.steps(40), as: .unauthenticated) && budget.used == Self.steps(40))
  }

  @Test("What was given up counts until it is let go: until then nobody takes its place beyond a bound")
  func leaving() throws {
    // Nobody lets go: no share is released before the end.
    var shares: [ByteShare] = []
    var refused = 0
    for number in 0..<40 {
      let stranger = try share("\(number)", "10.0.0.\(number % 7)")
      shares.append(stranger)
      for steps in 1...4 {
        guard !stranger.hold(Self.steps(steps), as: .unauthenticated) else { continue }
        refused += 1
        break
      }
      #expect(budget.used <= budget.strangersBytesMax)
    }
    #expect(refused > 20 && budget.used > budget.bytesMax)
    let user = try share("user", "10.0.1.1")
    #expect(user.hold(Self.steps(8), as: .user), "users do not wait for strangers who have not let go")
    #expect(!user.hold(Self.steps(30), as: .user) && budget.used <= budget.usersBytesMax)
    #expect(!user.hold(Self.steps(9), as: .user), "who was refused lets go of what it has")
    shares = []
    #expect(budget.used == Self.steps(8))
    let other = try share("other", "10.0.1.1")
    #expect(other.hold(Self.steps(16), as: .user) && told.all.allSatisfy { Int($0) != nil })
    withExtendedLifetime(user) {}
  }

  @Test("A share that nobody refers to any more has given everything back")
  func release() throws {
    do {
      let share = try share("gone", "10.0.0.1")
      #expect(share.hold(Self.steps(7), as: .user) && share.hold(Self.steps(4), as: .user))
      #expect(budget.used == Self.steps(4))
      #expect(share.hold(0, as: .user) && budget.used == 0)
      #expect(share.hold(Self.steps(4), as: .user))
    }
    #expect(budget.used == 0)
  }

  @Test(
    "A text weighs what its values take, as far as a commit may have them",
    arguments: [
      ("[0]", 3), (String(repeating: "x", count: 2000), 2000),
      ("[" + String(repeating: "0,", count: 600) + "0]", 1203 + 600 * 128),
      (String(repeating: ",", count: 200_000), 200_000 + 100_000 * 128),
    ])
  func weight(_ text: String, _ weight: Int) {
    #expect(Array(text.utf8).withUnsafeBytes(InputWeight.of) == weight)
  }
}

/// How many large answers are made at once, and what becomes of those that wait.
@Suite struct LargeAnswersTests {
  /// What has begun, with its turn.
  private final class Begun: Sendable {
    let turns = Mutex<[Int: LargeAnswers.Turn?]>([:])

    var numbers: [Int] { turns.withLock { $0.keys.sorted() } }

    func begin(_ number: Int, _ turn: LargeAnswers.Turn?) { turns.withLock { $0[number] = .some(turn) } }

    func end(_ number: Int) { _ = turns.withLock { $0.removeValue(forKey: number) } }
  }

  @Test("The next is begun when an answer is with its connection, and not when it is made; in the order in which they came")
  func turns() async throws {
    let pool = NIOThreadPool(numberOfThreads: 4)
    pool.start()
    let answers = LargeAnswers(on: pool, atOnceMax: 2)
    let begun = Begun()
    let client = ClientPresence()
    for number in 0..<6 { #expect(answers.submit(for: client) { begun.begin(number, $0) }) }
    #expect(try await becomes { begun.numbers == [0, 1] })
    begun.end(1)
    #expect(try await becomes { begun.numbers == [0, 2] })
    begun.end(2)
    #expect(try await becomes { begun.numbers == [0, 3] })
    begun.end(0)
    #expect(try await becomes { begun.numbers == [3, 4] })
    begun.end(3)
    begun.end(4)
    #expect(try await becomes { begun.numbers == [5] })
    begun.end(5)
    #expect(answers.submit(for: client) { begun.begin(6, $0) })
    #expect(try await becomes { begun.numbers == [6] })
    begun.end(6)
    try await pool.shutdownGracefully()
  }

  @Test("When the server stops everybody who waits is told")
  func stopping() async throws {
    let pool = NIOThreadPool(numberOfThreads: 1)
    pool.start()
    let answers = LargeAnswers(on: pool, atOnceMax: 1)
    let begun = Begun()
    let refused = Mutex(0)
    let client = ClientPresence()
    #expect(answers.submit(for: client) { begun.begin(0, $0) })
    #expect(try await becomes { begun.numbers == [0] })
    for _ in 0..<LargeAnswers.waitingMax {
      #expect(answers.submit(for: client) { turn in if turn == nil { refused.withLock { $0 += 1 } } })
    }
    #expect(!answers.submit(for: client) { _ in Issue.record("It is not run.") })
    try await pool.shutdownGracefully()
    begun.end(0)
    #expect(refused.withLock { $0 } == LargeAnswers.waitingMax)
  }

  @Test("Nobody works for clients that have gone: who waits behind them is next")
  func gone() async throws {
    let pool = NIOThreadPool(numberOfThreads: 1)
    pool.start()
    let answers = LargeAnswers(on: pool, atOnceMax: 1)
    let begun = Begun()
    let (gone, here) = (ClientPresence(), ClientPresence())
    #expect(answers.submit(for: here) { begun.begin(0, $0) })
    #expect(try await becomes { begun.numbers == [0] })
    for number in 1...500 { #expect(answers.submit(for: gone) { begun.begin(number, $0) }) }
    #expect(answers.submit(for: here) { begun.begin(501, $0) })
    gone.leave()
    begun.end(0)
    #expect(try await becomes { begun.numbers == [501] })
    begun.end(501)
    try await pool.shutdownGracefully()
  }
}
