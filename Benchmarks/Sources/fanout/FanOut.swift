#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Measuring

/// One connection publishes, all others are told; a few publications are under way at a time.
struct FanOut {
  struct Plan {
    var port = 0
    var listeners = 1000
    var seconds = 5.0
    var warmUp = 1.0
    /// Publications that not everybody has yet.
    var window = 4
  }

  /// Where the marks of a listener's bytes stand: a publication is `@NUMBER|NANOSECONDS;`.
  private struct Listener {
    var connection: Connection
    /// The mark whose end has not come, as far as it is there.
    var mark: [UInt8] = []
    var isInMark = false
    var last = -1
  }

  private let plan: Plan
  private let feed: any Feed
  private var listeners: [Listener] = []
  private var publisher: Connection
  private var published = 0
  private(set) var result = Result()
  /// What all listeners together have, left-out ones included.
  private var reached = 0
  private var isMeasured = false

  init(plan: Plan, feed: any Feed) throws {
    self.plan = plan
    self.feed = feed
    for _ in 0..<plan.listeners {
      listeners.append(Listener(connection: try Self.opened(feed.listening(port: plan.port), port: plan.port)))
    }
    publisher = try Self.opened(feed.publishing(port: plan.port), port: plan.port)
  }

  private static func opened(_ steps: [(request: [UInt8], answer: String)], port: Int) throws -> Connection {
    var connection = try Connection(port: port)
    for step in steps {
      try connection.send(step.request)
      while connection.input.find(Array(step.answer.utf8)) == nil { try connection.receive() }
      connection.input.consume(connection.input.count)
    }
    return connection
  }

  /// Publishes for the plan's time.
  mutating func run() throws {
    var polls = (listeners.map(\.connection) + [publisher]).map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    let begin = Measuring.seconds() + plan.warmUp
    let end = begin + plan.seconds
    while true {
      let now = Measuring.seconds()
      if now >= end { break }
      isMeasured = now >= begin
      while published * listeners.count - reached < plan.window * listeners.count { try publish() }
      guard poll(&polls, nfds_t(polls.count), 30_000) > 0 else {
        throw BenchmarkError("nobody was told anything for 30 seconds")
      }
      for index in polls.indices where polls[index].revents != 0 { try take(index) }
    }
    result.seconds = plan.seconds
  }

  private mutating func publish() throws {
    try publisher.send(feed.publication("@\(published)|\(Self.nanoseconds());", number: published))
    published += 1
  }

  private mutating func take(_ index: Int) throws {
    guard index < listeners.count else {
      // Answers to the publisher say nothing that its listeners do not.
      try publisher.receive()
      return publisher.input.consume(publisher.input.count)
    }
    try listeners[index].connection.receive()
    let input = listeners[index].connection.input
    let now = Self.nanoseconds()
    for byte in input.slice(0..<input.count) {
      switch byte {
      case UInt8(ascii: "@"):
        listeners[index].isInMark = true
        listeners[index].mark.removeAll(keepingCapacity: true)
      case UInt8(ascii: ";") where listeners[index].isInMark:
        listeners[index].isInMark = false
        try took(listeners[index].mark, by: index, at: now)
      case _ where listeners[index].isInMark: listeners[index].mark.append(byte)
      default: break
      }
    }
    listeners[index].connection.input.consume(input.count)
  }

  private mutating func took(_ mark: [UInt8], by index: Int, at now: Int) throws {
    let parts = mark.split(separator: UInt8(ascii: "|")).map { Int(String(decoding: $0, as: UTF8.self)) }
    guard parts.count == 2, let number = parts[0], let sent = parts[1] else {
      throw BenchmarkError("listener \(index) was told nonsense")
    }
    guard number > listeners[index].last else {
      throw BenchmarkError("listener \(index) was told of \(number) behind \(listeners[index].last)")
    }
    let passed = number - listeners[index].last
    // What a listener begins with may be from before.
    guard number < published else { return }
    listeners[index].last = number
    reached += passed
    guard isMeasured else { return }
    result.deliveries += 1
    result.leftOut += passed - 1
    result.delays.append(Double(now - sent) / 1e6)
  }

  private static func nanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}

/// What came of a run.
struct Result {
  var seconds = 0.0
  var deliveries = 0
  /// Publications that a listener was not told of, for a later one had replaced them.
  var leftOut = 0
  /// Milliseconds from a publication's sending to its being read.
  var delays: [Double] = []

  var line: String {
    let sorted = delays.sorted()
    func quantile(_ share: Double) -> String {
      sorted.isEmpty ? "0" : rounded(sorted[Int(Double(sorted.count - 1) * share)], 2)
    }
    return """
      {"deliveriesPerSecond":\(rounded(Double(deliveries) / max(seconds, 0.001), 0)),"deliveries":\(deliveries),"leftOut":\(leftOut),\
      "p50":\(quantile(0.5)),"p99":\(quantile(0.99))}
      """
  }
}
