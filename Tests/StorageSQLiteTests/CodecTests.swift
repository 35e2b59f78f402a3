import RewardModel
import StorageCore
import Testing
import TreeModel

@Suite("Stored bytes")
struct CodecTests {
  static let scalars: [Scalar] = [
    true, false, 0, 1, -1, 63, 64, -64, -65, .int(.max), .int(.min), 0.5, .double(.greatestFiniteMagnitude), .double(-.pi),
    .double(.leastNonzeroMagnitude), "", "a", "é", "e\u{301}", "a\u{0}b", .string(String(repeating: "𝕏", count: 500)),
  ]
  static let changes: [LeafChange] = [
    LeafChange(path: .root, before: nil, after: 1),
    LeafChange(path: PathBytes("/users/bob/level"), before: 4, after: 5),
    LeafChange(path: PathBytes("/users/bob/name"), before: "bob", after: nil),
    LeafChange(path: PathBytes("/users/bobby/name").priority, before: 1.5, after: false),
  ]

  @Test("A scalar is what it was", arguments: scalars)
  func scalar(_ scalar: Scalar) throws {
    #expect(try scalar.storedBytes.withUnsafeBytes { try Scalar(stored: $0) } == scalar)
  }

  @Test("A list of changes is what it was")
  func list() throws {
    for count in 0...Self.changes.count {
      let some = Array(Self.changes.prefix(count))
      #expect(try LeafChangeList.encode(some).withUnsafeBytes { try LeafChangeList.decode($0) } == some)
    }
  }

  @Test("A cause is what it was")
  func cause() throws {
    let cause = Cause(
      event: EventID(epoch: 3, revision: Revision(.max), path: PathBytes("/users/1/x")), function: "réward", hop: 8)
    #expect(try cause.storedBytes.withUnsafeBytes { try Cause(stored: $0) } == cause)
  }

  @Test("Bytes that end too early are damage")
  func truncation() {
    let list = LeafChangeList.encode(Self.changes)
    for count in 0..<list.count { expectDamage { try list[..<count].withUnsafeBytes { _ = try LeafChangeList.decode($0) } } }
    for scalar in Self.scalars {
      let bytes = scalar.storedBytes
      for count in 0..<bytes.count { expectDamage { try bytes[..<count].withUnsafeBytes { _ = try Scalar(stored: $0) } } }
      expectDamage { try (bytes + [0]).withUnsafeBytes { _ = try Scalar(stored: $0) } }
    }
  }

  @Test("Flipped bytes are read as something else or as damage, and never trap")
  func flips() {
    var random = SplitMix(seed: 5)
    let list = LeafChangeList.encode(Self.changes)
    for _ in 0..<20_000 {
      var bytes = list
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      do {
        _ = try bytes.withUnsafeBytes { try LeafChangeList.decode($0) }
        _ = try bytes.withUnsafeBytes { try Cause(stored: $0) }
      } catch let error as StorageError {
        #expect(error.code == .damaged)
      } catch {
        Issue.record("\(error)")
      }
    }
  }

  private func expectDamage(_ body: () throws -> Void) {
    do {
      try body()
      Issue.record("nothing was thrown")
    } catch {
      #expect((error as? StorageError)?.code == .damaged)
    }
  }
}
