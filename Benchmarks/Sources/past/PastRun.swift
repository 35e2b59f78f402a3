import Measuring
import StorageCore
import StorageSQLite
import Synchronization
import TreeDatabase
import TreeModel

/// Writes so many revisions through the write pipeline, and reads leaves as of random ones.
struct PastRun {
  let revisions: Int
  let players: Int
  let folder: String
  /// Whether runs of the history are merged behind the writer.
  let merges: Bool

  /// Looks of each kind.
  private static let looks = 2_000
  private static let writers = 64

  func run() async throws -> [String] {
    var options = SQLiteOptions()
    if !merges { options.history.mergeRuns = .max }
    let engine = try SQLiteEngine(directory: folder, options: options)
    defer { engine.close() }
    let database = try Database(engine: engine, participants: [], clock: SystemClock())
    let namespace = try await database.openNamespace(named: "bench")
    let writing = Stopwatch()
    try await write(database, namespace)
    let (seconds, cpu) = writing.stop()
    // What the checkpointer has begun it finishes: the merging of the last runs is a part of the price.
    database.shutDown()
    while try engine.compact() {}
    let (_, allCPU) = writing.stop()
    var lines = [
      merges ? "merged behind the writer" : "left as it is",
      "  \(Int(Double(revisions) / seconds)) commits/s, \(rounded(cpu / Double(revisions), 1)) µs of CPU each, "
        + "\(rounded(allCPU / Double(revisions), 1)) with what was left to merge",
    ]
    for (name, oldest) in [("any revision", 0), ("the last tenth", revisions * 9 / 10)] {
      lines.append("  a leaf as of \(name): \(try reads(engine, namespace, from: oldest))")
    }
    lines.append("  the last 20 commits of a leaf: \(try touches(engine, namespace))")
    return lines
  }

  private func write(_ database: Database, _ namespace: NamespaceID) async throws {
    let work = Work(revisions: revisions, players: players)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<Self.writers {
        group.addTask {
          while let (player, value) = work.next() {
            let request = CommitRequest(
              namespace: namespace, actor: .admin("bench"), operations: [.set(try Self.path(player), .leaf(.int(value)))])
            _ = try await database.commit(request)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  static func path(_ player: Int) throws -> Path { try Path(parsing: "users/p\(player)/level") }

  /// Reads leaves as of random revisions, each in a snapshot of its own.
  private func reads(_ engine: SQLiteEngine, _ namespace: NamespaceID, from oldest: Int) throws -> Times {
    var draw = Draw(seed: 7)
    var times = Times()
    for _ in 0..<Self.looks {
      let path = PathBytes(try Self.path(draw.next(below: players)))
      let revision = Revision(Int64(oldest + draw.next(below: revisions - oldest)))
      try times.measure {
        _ = try engine.read { snapshot throws in
          try snapshot.leaves(in: namespace, under: path, asOf: revision, limit: 1)
        }
      }
    }
    return times
  }

  private func touches(_ engine: SQLiteEngine, _ namespace: NamespaceID) throws -> Times {
    var draw = Draw(seed: 9)
    var times = Times()
    for _ in 0..<Self.looks {
      let path = PathBytes(try Self.path(draw.next(below: players)))
      try times.measure {
        _ = try engine.read { snapshot throws in
          try snapshot.touches(in: namespace, under: path, before: nil, limit: 20)
        }
      }
    }
    return times
  }
}

/// The writes that are left to do, drawn by many.
private final class Work: Sendable {
  private let players: Int
  private let state: Mutex<(left: Int, draw: Draw)>

  init(revisions: Int, players: Int) {
    self.players = players
    state = Mutex((revisions, Draw(seed: 1)))
  }

  /// Whose level is written next, and which; nil at the end.
  func next() -> (player: Int, level: Int64)? {
    state.withLock { state in
      guard state.left > 0 else { return nil }
      state.left -= 1
      return (state.draw.next(below: players), Int64(state.left))
    }
  }
}
