import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

/// What the disk has after a power cut: there is one faulty disk, so one test at a time.
@Suite("Power cuts", .serialized)
struct PowerCutTests {
  let folder = TemporaryFolder()

  @Test("A batch that was written is seen by the next one, and lost by a power cut until it is flushed")
  func unflushed() throws {
    let disk = FaultyDisk.shared
    disk.reset()
    var options = tinyOptions
    options.vfs = disk.name
    let engine = try SQLiteEngine(directory: folder.file("data"), options: options)
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.session.commit()
    try committer.put("/a", 2)
    try committer.session.write()
    #expect(try committer.session.leaf(in: committer.ns, at: PathBytes("/a"))?.leaf.scalar == 2)
    #expect(try valueAfterPowerCut(1, in: committer.ns) == 1)
    try committer.session.flush()
    #expect(try valueAfterPowerCut(2, in: committer.ns) == 2)
    engine.close()
  }

  private func valueAfterPowerCut(_ number: Int, in ns: NamespaceID) throws -> Scalar? {
    let copy = folder.file("copy\(number)")
    try FileCalls.makeFolder(copy)
    FaultyDisk.shared.copyDurable(from: folder.file("data"), to: copy)
    let reopened = try SQLiteEngine(directory: copy, options: tinyOptions)
    defer { reopened.close() }
    return try reopened.read { try $0.value(in: ns, "/a") }
  }

  @Test("A log that begins again, and batches larger than the gathering buffer, survive a power cut at any moment")
  func logRestarts() throws {
    let disk = FaultyDisk.shared
    disk.reset()
    var options = tinyOptions
    options.vfs = disk.name
    options.walBytesMax = 1 << 16
    let engine = try SQLiteEngine(directory: folder.file("data"), options: options)
    let committer = try Committer(engine)
    let text = String(repeating: "x", count: 3000)
    for round in 1...4 as ClosedRange<Int64> {
      var values: [PathBytes: Scalar?] = [PathBytes("/a"): .int(round)]
      for index in 0..<50 { values[at("/b/\(round)-\(index)")] = .string(text) }
      try committer.put(values)
      try committer.session.commit()
      if round % 2 == 0 { try engine.checkpoint() }
      #expect(try valueAfterPowerCut(100 + Int(round), in: committer.ns) == .int(round))
    }
    engine.close()
  }

  @Test("Of a log that is used again, whatever sectors a power cut leaves as they were, nothing old is played back")
  func oldSectors() throws {
    let disk = FaultyDisk.shared
    disk.reset()
    var options = reservedOptions
    options.vfs = disk.name
    let data = folder.file("data")
    let engine = try SQLiteEngine(directory: data, options: options)
    let committer = try Committer(engine)
    var random = SplitMix(seed: 19)
    var places: Set<UInt64> = []
    for value in 1...60 as ClosedRange<Int64> {
      try committer.put([PathBytes("/a"): .int(value), at("/b/\(value)"): .string(String(repeating: "x", count: 500))])
      try committer.session.write()
      if value > 20 {
        for round in 0..<3 {
          let copy = folder.file("cut\(value)-\(round)")
          try FileCalls.makeFolder(copy)
          disk.copyDurable(from: data, to: copy)
          mix(sectorsOf: data + "/doubloon.db-wal", into: copy + "/doubloon.db-wal", using: &random)
          let reopened = try SQLiteEngine(directory: copy, options: tinyOptions)
          let found = try reopened.read { try $0.value(in: committer.ns, "/a") }
          #expect(found == .int(value) || found == .int(value - 1), "commit \(value)")
          #expect(try reopened.check().faults.isEmpty, "commit \(value)")
          reopened.close()
        }
        places.insert(try #require(try LogInspection(path: data + "/doubloon.db-wal").salts))
      }
      try committer.session.flush()
      if value % 5 == 0 { try engine.checkpoint() }
    }
    // It restarted many times meanwhile.
    #expect(places.count > 5)
    engine.close()
  }

  /// Takes some of the sectors that were written since the last sync over into what was synced.
  private func mix(sectorsOf path: String, into copy: String, using random: inout SplitMix) {
    let written = TemporaryFolder.bytes(of: path)
    var bytes = TemporaryFolder.bytes(of: copy)
    for sector in stride(from: 0, to: written.count, by: 512) where Bool.random(using: &random) {
      let end = min(sector + 512, written.count)
      // A file that has become longer has zeros where nothing was written.
      if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
      bytes.replaceSubrange(sector..<end, with: written[sector..<end])
    }
    TemporaryFolder.write(bytes, to: copy)
  }

  @Test("An I/O error of the disk at a commit's fsync poisons; after a power cut everything acknowledged is there")
  func powerCut() throws {
    for failsAt in 1...25 {
      let disk = FaultyDisk.shared
      disk.reset()
      var options = tinyOptions
      options.vfs = disk.name
      let data = folder.file("data\(failsAt)")
      let engine = try SQLiteEngine(directory: data, options: options)
      let committer = try Committer(engine)
      try committer.session.commit()
      disk.failSync(after: failsAt)
      var acknowledged: Int64 = 0
      do {
        for value in 1...40 as ClosedRange<Int64> {
          try committer.put([PathBytes("/a"): .int(value), at("/b/\(value)"): true])
          try committer.session.commit()
          acknowledged = value
          if value % 7 == 0 { try engine.checkpoint() }
        }
      } catch {
        #expect((error as? StorageError)?.code == .failed)
      }
      #expect(acknowledged < 40)
      // What was not synced is lost.
      let after = folder.file("after\(failsAt)")
      try FileCalls.makeFolder(after)
      disk.copyDurable(from: data, to: after)
      engine.close()
      let reopened = try SQLiteEngine(directory: after, options: tinyOptions)
      try reopened.read { snapshot throws in
        let head = try snapshot.head(of: committer.ns).revision.rawValue
        #expect(head >= acknowledged && head <= acknowledged + 1, "sync \(failsAt)")
        #expect(try snapshot.value(in: committer.ns, "/a") == (head == 0 ? nil : .int(head)))
        #expect(try snapshot.children(in: committer.ns, of: PathBytes("/b"), after: nil, limit: 99).count == Int(head))
      }
      reopened.close()
    }
  }
}
