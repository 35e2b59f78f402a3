import StorageCore
import TestSupport
import Testing

@Suite struct TokenBucketsTests {
  static let texts: [(String, RateLimit?)] = [
    ("100/s", RateLimit(100, per: 1000)), ("20/min", RateLimit(20, per: 60_000)),
    ("5/h burst 50", RateLimit(5, per: 3_600_000, burst: 50)),
    ("1/d", RateLimit(1, per: 86_400_000)), ("", nil), ("5", nil), ("0/s", nil), ("5/y", nil), ("-1/s", nil),
    ("5/s burst", nil),
    ("5/s burst 0", nil), ("5/s 9", nil), ("+5/s", nil), ("9999999/s", nil), ("5//s", nil),
  ]

  @Test("rates are written as people say them", arguments: texts)
  func parsing(_ text: String, _ expected: RateLimit?) {
    #expect(RateLimit(parsing: text) == expected)
    if let expected { #expect(RateLimit(parsing: expected.description) == expected) }
  }

  @Test("a burst, then the rate, then the burst again after a rest")
  func rhythm() {
    var buckets = TokenBuckets<String>(limit: RateLimit(10, per: 1000, burst: 3))
    for _ in 0..<3 { #expect(buckets.take("a", at: 5000) == .allowed) }
    #expect(buckets.take("a", at: 5000) == .wait(milliseconds: 100))
    #expect(buckets.take("b", at: 5000) == .allowed)
    #expect(buckets.take("a", at: 5099) == .wait(milliseconds: 1))
    #expect(buckets.take("a", at: 5100) == .allowed)
    #expect(buckets.take("a", at: 5100) == .wait(milliseconds: 100))
    for _ in 0..<3 { #expect(buckets.take("a", at: 9000) == .allowed) }
    #expect(buckets.take("a", at: 9000, cost: 2) == .wait(milliseconds: 200))
    buckets.giveBack("a", cost: 2)
    #expect(buckets.take("a", at: 9000, cost: 2) == .allowed)
  }

  @Test("a clock that is set back costs one full bucket, not the whole way")
  func clockSetBack() {
    var buckets = TokenBuckets<Int>(limit: RateLimit(1, per: 1000, burst: 2))
    for _ in 0..<2 { #expect(buckets.take(1, at: 1_000_000) == .allowed) }
    #expect(buckets.take(1, at: 5000) == .wait(milliseconds: 1000))
    #expect(buckets.take(1, at: 6000) == .allowed)
  }

  @Test("the table is bounded, and forgets those who did not come lately")
  func bounds() {
    var buckets = TokenBuckets<Int>(limit: RateLimit(1, per: 3_600_000), capacity: 100)
    #expect(buckets.take(-1, at: 0) == .allowed)
    for client in 0..<10_000 {
      #expect(buckets.take(client, at: 0) == .allowed)
      if client % 20 == 0 { #expect(buckets.take(-1, at: 0) != .allowed) }
      #expect(buckets.count <= 101)
    }
  }

  /// Tokens that are counted one by one, in microseconds of growth.
  private struct PlainBucket {
    let growth: Int64
    let most: Int64
    var tokens: Int64
    var last: Int64

    mutating func take(at now: Int64) -> Bool {
      tokens = min(most, tokens + (now - last) * 1000)
      last = now
      guard tokens >= growth else { return false }
      tokens -= growth
      return true
    }
  }

  @Test("a bucket gives what tokens that are counted one by one give, and its wait is long enough and no longer")
  func property() {
    var random = SplitMix64(seed: 2)
    for _ in 0..<200 {
      let limit = RateLimit(Int.random(in: 1...50, using: &random), per: 1000, burst: Int.random(in: 1...20, using: &random))
      var buckets = TokenBuckets<Int>(limit: limit, capacity: 2)
      let growth = 1_000_000 / Int64(limit.count)
      var now: Int64 = 10_000
      var plain = PlainBucket(growth: growth, most: growth * Int64(limit.burst), tokens: growth * Int64(limit.burst), last: now)
      for _ in 0..<200 {
        now += Int64.random(in: 0...30, using: &random)
        let expected = plain.take(at: now)
        switch buckets.take(0, at: now) {
        case .allowed: #expect(expected)
        case .wait(let milliseconds):
          #expect(!expected)
          var (early, due) = (plain, plain)
          #expect(!early.take(at: now + milliseconds - 1) && due.take(at: now + milliseconds))
        }
      }
    }
  }
}

/// Names and numbers that other rooms, and people's scripts, rely on.
@Suite struct LimitTests {
  @Test(
    "a namespace's name has letters, digits and hyphens, 1 to 64 of them",
    arguments: [
      ("demo-default-rtdb", true), ("a", true), ("-", true), ("0", true), ("Z9", true),
      (String(repeating: "n", count: 64), true),
      (String(repeating: "n", count: 65), false), ("", false), ("a.b", false), ("a_b", false), ("a b", false), ("a/b", false),
      ("é", false), ("e\u{301}", false), ("a\u{0}", false), ("a\n", false), ("٣", false), ("Ａ", false),
    ])
  func namespaceNames(_ name: String, _ isLegal: Bool) {
    #expect(NamespaceName.isLegal(name) == isLegal)
  }

  @Test("one commit may do as much as the documentation says")
  func writeLimits() {
    let limits = WriteLimits()
    #expect(limits.leavesMax == 100_000)
    #expect(limits.bytesMax == 16 * 1024 * 1024)
    #expect(limits.eventsMax == 1000)
    #expect(limits.eventBytesMax == 1024 * 1024)
    #expect(limits.hopsMax == 8)
    #expect(limits.queueMax == 16_384)
    #expect(limits.batchMax == 512)
    #expect(WriteLimits(hopsMax: 3) != limits)
  }

  @Test("there is one migration for each version after the first, oldest first")
  func migrations() {
    #expect(SchemaMigration.all.map(\.from) == Array(1..<SchemaScript.version))
    #expect(SchemaScript.text.contains("the whole current schema (version \(SchemaScript.version))"))
  }

  @Test("a namespace begins before its first commit and its first entry")
  func head() {
    let head = NamespaceHead()
    #expect(head.revision == .zero)
    #expect(head.entrySequence == 0)
    #expect(head.commitHash == [UInt8](repeating: 0, count: 32))
    #expect(head.entryHash == head.commitHash)
  }

  @Test("a fault of the store refuses a request as unavailable, in the store's words")
  func storeFaults() {
    let error = CommitError(StorageError(.full, "The disk is full. Make room and start again."))
    guard case .unavailable = error.code else {
      Issue.record("\(error.code)")
      return
    }
    #expect(error.message == "The disk is full. Make room and start again.")
  }
}
