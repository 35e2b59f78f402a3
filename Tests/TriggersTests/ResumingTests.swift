import FunctionsKit
import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import Triggers

/// What comes while a function is being resumed, step by step.
struct ResumingTests {
  /// The state of a dispatcher whose function is being resumed, beside a real store that keeps its records.
  private struct Resuming {
    let fixture: TriggerFixture
    let events: [EventRecord]
    var state: DispatchState

    init(_ fixture: TriggerFixture, _ events: [EventRecord], _ functions: Functions) {
      self.fixture = fixture
      self.events = events
      state = DispatchState(
        table: TriggerTable(functions.definitions), options: DispatcherOptions(), notes: nil, random: SplitMix64(seed: 1))
      state.namespaces[fixture.namespace] = NamespaceState(settled: .zero)
      state.functions[0].phase = .resuming
      state.beginResume(0, kept: KeptDeliveries(of: "watch", in: [fixture.namespace]))
    }

    /// An event arrives: its record is to be sent.
    mutating func arrive(_ event: EventRecord) throws -> [WriterRequest] {
      let path = try #require(event.id.path.path)
      let facts = EventFacts(record: event, path: path, commit: nil)
      state.absorb(facts, wanting: [0], parent: nil, at: TriggerFixture.start)
      return state.takeActions(at: TriggerFixture.start).submissions
    }

    mutating func store(_ submissions: [WriterRequest]) async throws {
      for submission in submissions {
        let receipt = try await fixture.database.commit(submission.request)
        state.complete(submission.purpose, result: .success(receipt), at: TriggerFixture.start)
      }
    }

    /// What a runner reads next; nil if nothing is to be read.
    mutating func page() throws -> (page: [(NamespaceID, DeliveryRecord)], next: KeptDeliveries)? {
      guard case .resume(_, var kept) = state.nextMaintenance() else { return nil }
      let page = try fixture.engine.read { (snapshot) throws(StorageError) in try kept.page(512, from: snapshot) }
      return (page, kept)
    }

    /// Reads to the end.
    mutating func finish() throws {
      while let (page, next) = try page() { state.resume(0, with: page, next: next) }
    }

    /// The revisions of what may run, in order.
    mutating func ready() -> [Int64] {
      var found: [Int64] = []
      while let delivery = state.queue.next() {
        found.append(delivery.facts.revision.rawValue)
        state.queue.finish(delivery.orderingKey)
      }
      return found
    }
  }

  /// A function that is being resumed, and events of Bob's, one for each level.
  private func resuming(_ levels: ClosedRange<Int64>) async throws -> Resuming {
    let fixture = try await TriggerFixture(runs: false, watch)
    var events: [EventRecord] = []
    for level in levels { events += try await fixture.set("/users/bob/level", .leaf(.int(level))).events }
    let functions = Functions()
    watch(functions)
    return Resuming(fixture, events, functions)
  }

  private func watch(_ functions: Functions) {
    functions.onWrite(Users.level, name: "watch") { _, _ in .done }
  }

  @Test("An event whose record the writer had no room for is found behind later ones, and runs before them")
  func late() async throws {
    var resuming = try await self.resuming(1...3)
    let events = resuming.events
    let refused = try resuming.arrive(events[0])
    #expect(refused.count == 1)
    resuming.state.complete(
      refused[0].purpose, result: .failure(CommitError(.overloaded, "Too much waits.")), at: TriggerFixture.start)
    try await resuming.store(try resuming.arrive(events[1]))
    // The second is found, and the first is not there yet.
    let (page, next) = try #require(try resuming.page())
    #expect(page.map(\.1.event) == [events[1].id])
    resuming.state.resume(0, with: page, next: next)
    #expect(resuming.ready().isEmpty)
    #expect(try resuming.page() == nil)
    // Its time to be sent again has come.
    _ = resuming.state.fire(at: TriggerFixture.start + 1000)
    try await resuming.store(resuming.state.takeActions(at: TriggerFixture.start + 1000).submissions)
    try resuming.finish()
    #expect(resuming.state.functions[0].phase == .active)
    #expect(resuming.ready() == [1, 2])
    await resuming.fixture.close()
  }

  @Test("One that is refused near the end is looked for before the function runs again")
  func lateAtTheEnd() async throws {
    var resuming = try await self.resuming(1...2)
    let events = resuming.events
    let first = try resuming.arrive(events[0])
    try await resuming.store(try resuming.arrive(events[1]))
    let (page, next) = try #require(try resuming.page())
    resuming.state.resume(0, with: page, next: next)
    #expect(resuming.ready() == [2])
    try resuming.finish()
    #expect(resuming.state.functions[0].phase == .resuming, "one is on its way")
    resuming.state.complete(
      first[0].purpose, result: .failure(CommitError(.overloaded, "Too much waits.")), at: TriggerFixture.start)
    try resuming.finish()
    #expect(resuming.state.functions[0].phase == .resuming)
    _ = resuming.state.fire(at: TriggerFixture.start + 1000)
    try await resuming.store(resuming.state.takeActions(at: TriggerFixture.start + 1000).submissions)
    try resuming.finish()
    #expect(resuming.state.functions[0].phase == .active)
    #expect(resuming.ready().contains(1))
    await resuming.fixture.close()
  }

  @Test("Records that overtake each other on their way are all found, in the order of their events", arguments: [false, true])
  func overtaking(_ whileLooking: Bool) async throws {
    var resuming = try await self.resuming(1...3)
    let events = resuming.events
    let (first, second, third) = (
      try resuming.arrive(events[0]), try resuming.arrive(events[1]), try resuming.arrive(events[2])
    )
    try await resuming.store(third)
    let (page, next) = try #require(try resuming.page())
    #expect(page.count == 1)
    if whileLooking {
      try await resuming.store(second + first)
      resuming.state.resume(0, with: page, next: next)
      #expect(resuming.ready() == [1, 2, 3])
    } else {
      resuming.state.resume(0, with: page, next: next)
      try await resuming.store(first + second)
      try resuming.finish()
      #expect(resuming.ready() == [3, 1, 2])
    }
    try resuming.finish()
    #expect(resuming.state.functions[0].phase == .active)
    await resuming.fixture.close()
  }

  @Test("A key that is drained while what was kept is read is filled again")
  func dry() async throws {
    var resuming = try await self.resuming(1...1)
    let events = resuming.events
    let record = try #require(
      try resuming.arrive(events[0]).first?.request.triggers.deliveries.first)
    let delivery = try #require(resuming.state.delivery(record, in: resuming.fixture.namespace))
    resuming.state.enqueue(delivery)
    let orderingKey = try #require(delivery.orderingKey)
    resuming.state.queue.markSpilled(orderingKey)
    _ = resuming.state.queue.next()
    resuming.state.queue.finish(orderingKey)
    #expect(resuming.state.queue.isDrained(orderingKey))
    resuming.state.refill(orderingKey, [record], isAll: true)
    #expect(resuming.ready() == [1])
    await resuming.fixture.close()
  }
}
