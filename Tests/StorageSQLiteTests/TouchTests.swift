import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

/// Which commits touched a place, and what the tree was at a moment.
@Suite("The log by place and by time")
struct TouchTests {
  @Test("Every place's commits equal a naive model's, page by page, wherever they are kept", arguments: [1, 2] as [UInt64])
  func model(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    var touched: [Set<PathBytes>] = []
    for value in 1...260 as ClosedRange<Int64> {
      var values: [PathBytes: Scalar?] = [:]
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        values[OverlayTests.paths.randomElement(using: &random)!] = .some(.int(value))
      }
      try committer.put(values)
      touched.append(Set(values.keys))
      if Bool.random(using: &random) { try committer.session.commit() }
      if Bool.random(using: &random) { _ = try engine.compact() }
    }
    try committer.session.commit()
    try engine.read { snapshot throws in
      for path in OverlayTests.paths + [.root, at("/nowhere")] {
        let expected = touched.indices.filter { touched[$0].contains { path.contains($0) } }.map { Int64($0 + 1) }
        let limit = Int.random(in: 1...40, using: &random)
        var found: [Int64] = []
        var before: Revision?
        while true {
          let page = try snapshot.touches(in: committer.ns, under: path, before: before, limit: limit)
          #expect(page.revisions.count <= limit)
          found += page.revisions.map(\.rawValue)
          if page.isComplete { break }
          #expect(page.scannedThrough < before ?? Revision(.max))
          before = page.scannedThrough
        }
        #expect(found == expected.reversed(), "\(path.path?.description ?? "?"), \(limit) at a time")
      }
    }
  }

  @Test("A page over a place where nearly everything happens is bounded, says how far it looked, and goes on")
  func bounded() throws {
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    for value in 1...60 as ClosedRange<Int64> {
      try committer.put(
        Dictionary(uniqueKeysWithValues: (0..<400).map { (at("/wide/k\($0)"), Scalar?.some(.int(value))) }))
      try committer.session.commit()
    }
    for _ in 0..<5000 where try engine.compact() {}
    try engine.read { snapshot throws in
      let page = try snapshot.touches(in: committer.ns, under: at("/wide"), before: nil, limit: 1000)
      #expect(page.revisions.first == Revision(60))
      var (all, next) = (page.revisions, page)
      while !next.isComplete {
        next = try snapshot.touches(in: committer.ns, under: at("/wide"), before: next.scannedThrough, limit: 1000)
        all += next.revisions
      }
      #expect(all.map(\.rawValue) == (1...60).reversed())
    }
  }

  @Test("A moment is found between the commits around it")
  func moments() throws {
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    // The committer's commit of revision R is made at 1000 + R.
    for value in 1...50 as ClosedRange<Int64> { try committer.put("/a", .int(value)) }
    try committer.session.commit()
    try engine.read { snapshot throws in
      for (time, revision) in [(0, 0), (1000, 0), (1001, 1), (1025, 25), (1050, 50), (9999, 50)] as [(Int64, Int64)] {
        #expect(try snapshot.revision(in: committer.ns, at: time) == Revision(revision))
      }
      #expect(try snapshot.revision(in: NamespaceID(rawValue: 77), at: 5000) == .zero)
    }
  }

  @Test("The audit log is read page by page")
  func audits() throws {
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    let records = (1...5).map {
      AuditRecord(time: Int64($0), actor: .admin("ann"), action: "a\($0)", detail: "{}", result: "ok")
    }
    for record in records { committer.session.append(record) }
    try committer.session.commit()
    try engine.read { snapshot throws in
      let first = try snapshot.audits(before: nil, limit: 2)
      #expect(first.map(\.record) == [records[4], records[3]])
      let rest = try snapshot.audits(before: first.last?.position, limit: 9)
      #expect(rest.map(\.record) == records[..<3].reversed())
    }
  }
}
