import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

/// Connections of readers that nobody needs, and reads that are larger than they may be.
@Suite struct ReaderPoolTests {
  let folder = TemporaryFolder()

  @Test("Connections that nobody has taken between two looks are closed, and the others stay")
  func unused() throws {
    let path = folder.file("pool.sqlite")
    try SQLiteConnection(path: path, creates: true).close()
    let pool = ReaderPool(path: path, options: SQLiteOptions())
    defer { pool.close() }
    let taken = try [pool.take(), pool.take(), pool.take()]
    for connection in taken { pool.give(connection) }
    pool.closeUnused()
    #expect(taken.map(\.isClosed) == [false, false, false])
    // The last that came back is the first to be taken.
    pool.give(try pool.take())
    pool.closeUnused()
    #expect(taken.map(\.isClosed) == [true, true, false])
    pool.closeUnused()
    #expect(taken.map(\.isClosed) == [true, true, true])
    let another = try pool.take()
    #expect(!another.isClosed)
    pool.give(another)
  }

  @Test("A read ends with the row by which it is larger than it may be")
  func bytes() throws {
    let engine = try SQLiteEngine(directory: folder.path)
    defer { engine.close() }
    let committer = try Committer(engine)
    for number in 0..<10 { try committer.put(Path(parsing: "/a/\(number)"), .string(String(repeating: "x", count: 1000))) }
    try committer.session.commit()
    let ns = committer.ns
    let all = PathBytes(Path.root)
    func count(_ bytesMax: Int, limit: Int = 100) throws -> Int {
      try engine.read { (snapshot) throws(StorageError) in
        try snapshot.leaves(in: ns, from: all, to: .afterAll, limit: limit, bytesMax: bytesMax).count
      }
    }
    #expect(try count(1 << 20) == 10)
    #expect(try count(1 << 20, limit: 4) == 4)
    #expect(try count(2500) == 3)
    #expect(try count(0) == 1)
  }
}
