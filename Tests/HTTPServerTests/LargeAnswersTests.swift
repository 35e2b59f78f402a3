import NIOPosix
import ServerTestSupport
import Synchronization
import Testing

@testable import HTTPServer

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
    for number in 0..<6 { answers.submit { begun.begin(number, $0) } }
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
    answers.submit { begun.begin(6, $0) }
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
    answers.submit { begun.begin(0, $0) }
    #expect(try await becomes { begun.numbers == [0] })
    for _ in 0..<10_000 { answers.submit { turn in if turn == nil { refused.withLock { $0 += 1 } } } }
    try await pool.shutdownGracefully()
    begun.end(0)
    #expect(refused.withLock { $0 } == 10_000)
  }
}
