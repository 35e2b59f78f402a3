import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// In which order a connection is given what its listens are told.
struct ListenOrderTests {
  /// A connection that has listened to `/n`, and then begun to listen to places of which the first is held.
  private func hold(
    _ paths: [Path], in fixture: ListenFixture, _ reads: HeldReads
  ) async throws -> (sink: MirrorSink, listenings: [Listening]) {
    let sink = fixture.connect()
    _ = try fixture.listen(sink, "/n")
    _ = await fixture.settled(sink) { _ in }
    reads.hold()
    var listenings = [try fixture.listen(sink, paths[0])]
    await reads.arrival()
    for path in paths.dropFirst() { listenings.append(try fixture.listen(sink, path)) }
    try await passOthers(fixture)
    return (sink, listenings)
  }

  /// Returns when everything has been given that is not held: somebody else on the same executor who comes later has it.
  private func passOthers(_ fixture: ListenFixture) async throws {
    let other = fixture.connect()
    _ = try fixture.listen(other, "/other")
    _ = await fixture.settled(other) { _ in }
    fixture.executors[0].sync { other.listener?.close() }
  }

  @Test("First events come in the order of the listens; changes and acknowledgements wait behind them")
  func order() async throws {
    let reads = HeldReads()
    try await ListenFixture.run(reads: reads) { fixture in
      defer { reads.free() }
      try await fixture.write(.set("/", ["slow": 1, "a": 2, "n": 0]))
      let (sink, _) = try await hold(["/slow", "/a"], in: fixture, reads)
      try await fixture.write(.set("/n", 1))
      try await fixture.write(.set("/slow/more", 3))
      try await fixture.write(.set("/a", 4))
      sink.listener?.afterDeliveries { sink.note("acknowledged") }
      try await passOthers(fixture)
      #expect(fixture.executors[0].sync { sink.log } == ["snapshot 0"])
      reads.open()
      // The held snapshot is read when all that is committed.
      let told = ["snapshot 0", #"snapshot {"more":3}"#, "snapshot 2", "overwrite / 1", "overwrite / 4", "acknowledged"]
      #expect(await fixture.settled(sink) { $0.log } == told)
      #expect(fixture.hub.counts.resyncs == 0)
    }
  }

  @Test("A listen that is stopped, or ends with a fault, lets those behind it go on")
  func gone() async throws {
    let reads = HeldReads()
    var limits = ListenLimits()
    limits.leavesMax = 2
    try await ListenFixture.run(limits: limits, reads: reads) { fixture in
      defer { reads.free() }
      try await fixture.write(.set("/large", ["b": 1, "c": 2, "d": 3]))
      let (sink, listenings) = try await hold(["/slow", "/large", "/a"], in: fixture, reads)
      #expect(fixture.executors[0].sync { sink.log } == ["snapshot null"])
      fixture.executors[0].sync { sink.stop(listenings[0]) }
      #expect(fixture.executors[0].sync { sink.log } == ["snapshot null", "ended", "snapshot null"])
      #expect(fixture.executors[0].sync { sink.isFullyFlushed })
      reads.open()
      #expect(await fixture.settled(sink) { $0.events } == 3)
    }
  }

  @Test("What waits behind a slow listen is bounded: too much is read again in its turn, and nothing is missed")
  func bounds() async throws {
    let reads = HeldReads()
    var limits = ListenLimits()
    limits.outstandingBytesMax = 600
    try await ListenFixture.run(limits: limits, reads: reads) { fixture in
      defer { reads.free() }
      let text = TreeNode.leaf(.string(String(repeating: "x", count: 400)))
      try await fixture.write(.set("/", ["a": text, "b": text, "n": ["k": 0]]))
      // `/a` finds room, `/b` does not, and neither do most changes.
      let (sink, _) = try await hold(["/slow", "/a", "/b"], in: fixture, reads)
      for number in 1...20 {
        try await fixture.write(.set(Path(keys: [Key("n"), Key("k\(number)")]), .leaf(.int(Int64(number)))))
      }
      try await fixture.write(.set("/b/more", 1))
      try await passOthers(fixture)
      let begun = reads.begun
      reads.open()
      let states = try fixture.states()
      let (differences, isOutOfOrder) = await fixture.settled(sink) { sink in
        (sink.mirrors.values.flatMap { $0.differences(from: states) }, sink.isOutOfOrder)
      }
      #expect(differences == [])
      #expect(!isOutOfOrder)
      // `/b` and what `/n` had missed.
      #expect(reads.begun == begun + 2)
    }
  }
}
