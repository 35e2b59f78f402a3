import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import StorageSQLite

/// Random work with values of all lengths, against a model that keeps every state.
@Suite("Long values against a model")
struct LongValueModelTests {
  private static let lengths = [3, 100, 999, 1000, 1001, 1500, 3999, 4100, 9000]

  /// A store with its model.
  private final class Game {
    let folder = TemporaryFolder()
    var engine: SQLiteEngine
    var committer: Committer
    /// What the tree held after each revision.
    var states: [[PathBytes: Scalar]] = [[:]]
    var pruned = 0
    var random: SplitMix64
    private var serial = 0

    init(seed: UInt64) throws {
      random = SplitMix64(seed: seed)
      engine = try SQLiteEngine(directory: folder.file("data"), options: tinyOptions)
      committer = try Committer(engine)
    }

    func draw(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    private func value() -> Scalar? {
      serial += 1
      switch draw(0..<5) {
      case 0: return nil
      case 1: return .int(Int64(serial))
      default:
        let length = LongValueModelTests.lengths[draw(0..<LongValueModelTests.lengths.count)]
        return text(storedBytes: length, ["a", "b", "c", "d", "e", "f", "g"][serial % 7])
      }
    }

    func write() throws {
      var batch: [PathBytes: Scalar?] = [:]
      for _ in 0...draw(0..<3) { batch.updateValue(value(), forKey: at("/users/p\(draw(0..<7))/x")) }
      let mark = committer.session.mark()
      try committer.put(batch)
      if draw(0..<10) == 0 { return committer.session.rollback(to: mark) }
      var state = states[states.count - 1]
      for (path, scalar) in batch { state[path] = scalar }
      states.append(state)
    }

    func reopen() throws {
      try committer.session.commit()
      engine.close()
      engine = try SQLiteEngine(directory: folder.file("data"), options: tinyOptions)
      committer = try Committer(engine)
    }

    func prune() throws {
      try committer.session.commit()
      let revision = draw(pruned..<states.count)
      guard revision > pruned else { return }
      try committer.prune(through: Revision(Int64(revision)), of: engine)
      pruned = revision
    }

    func compare(_ when: String) throws {
      try committer.session.commit()
      let faults = try engine.check().faults
      #expect(faults == [], "\(when)")
      for revision in pruned..<states.count {
        let found = try engine.read { snapshot throws in
          try snapshot.leaves(in: committer.ns, under: .root, asOf: Revision(Int64(revision)), limit: .max)
        }
        let tree = Dictionary(uniqueKeysWithValues: found.map { ($0.leaf.path, $0.leaf.scalar) })
        #expect(tree == states[revision], "revision \(revision), \(when)")
      }
    }
  }

  @Test("Every state reads as it was, and the store is sound, whatever is merged, pruned and opened again", arguments: 1...4)
  func play(seed: Int) throws {
    let game = try Game(seed: UInt64(seed))
    for step in 1...240 {
      try game.write()
      if game.draw(0..<2) == 0 { try game.committer.session.commit() }
      if game.draw(0..<4) == 0 { for _ in 0..<game.draw(0..<6) { _ = try game.engine.compact() } }
      if game.draw(0..<60) == 0 { try game.prune() }
      if game.draw(0..<60) == 0 { try game.reopen() }
      if step % 60 == 0 { try game.compare("step \(step)") }
    }
    try game.engine.compactAll()
    try game.compare("merged")
    try game.committer.session.commit()
    game.committer.session.remove(game.committer.ns)
    try game.committer.session.commit()
    try game.engine.compactAll()
    #expect(try game.engine.rows("SELECT count(*) FROM long_value") == ["0"])
    game.engine.close()
  }
}
