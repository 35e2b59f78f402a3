import StorageCore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What `doubloon verify` sees of what was changed behind the program's back.
struct VerificationTests {
  /// How many bits are flipped: 200, or as many as the environment's DOUBLOON_FLIPS says.
  private static let flips = getenv("DOUBLOON_FLIPS").flatMap { Int(String(cString: $0)) } ?? 200
  /// Of how the places are drawn; DOUBLOON_FLIPS_SEED draws others.
  private static let seed = getenv("DOUBLOON_FLIPS_SEED").flatMap { UInt64(String(cString: $0)) } ?? 12

  @Test("Every bit that is flipped in the file is seen, but where nothing is stored")
  func flippedBits() async throws {
    let store = try await WrittenStore.shared.value
    #expect(try store.errors(in: store.copy(store.bytes)) == [])
    let whole = try #require(store.content(of: try store.copy(store.bytes)))
    var random = SeededGenerator(seed: Self.seed)
    var unused = 0
    for _ in 0..<Self.flips {
      let (place, bit) = (Int.random(in: store.bytes.indices, using: &random), UInt8.random(in: 0..<8, using: &random))
      var bytes = store.bytes
      bytes[place] ^= 1 << bit
      if try !store.errors(in: store.copy(bytes)).isEmpty { continue }
      unused += 1
      #expect(try store.content(of: store.copy(bytes)) == whole, "bit \(bit) of byte \(place)")
    }
    #expect(unused < Self.flips * 3 / 4, "Most of the file is used: \(unused) flips met nothing.")
  }

  /// What somebody might do with another program.
  private static let edits = [
    "UPDATE meta SET value = '9' WHERE name = 'epoch'",
    "UPDATE namespace SET settled_revision = 0",
    "UPDATE namespace SET created_at = created_at + 1",
    "UPDATE node SET revision = revision - 1 WHERE path = (SELECT max(path) FROM node)",
    "DELETE FROM node WHERE path = (SELECT min(path) FROM node)",
    "UPDATE node SET value = x'0302' WHERE path = (SELECT min(path) FROM node)",
    "INSERT INTO node SELECT ns + 1, path, revision, value FROM node LIMIT 1",
    "UPDATE commit_log SET actor = 'admin:eve' WHERE revision = 2",
    "DELETE FROM commit_log WHERE revision = (SELECT max(revision) FROM commit_log)",
    "UPDATE history SET before = x'0302' WHERE path = (SELECT max(path) FROM history)",
    "DELETE FROM history WHERE path = (SELECT max(path) FROM history)",
    "UPDATE history_run SET level = 1",
    "UPDATE history_run SET after_revision = after_revision + 1",
    "DELETE FROM event WHERE revision = (SELECT max(revision) FROM event)",
    "UPDATE event SET hop = 3 WHERE revision = (SELECT max(revision) FROM event)",
    "UPDATE execution SET reason = 'because' WHERE reason IS NOT NULL",
    "UPDATE execution SET attempt = attempt + 1",
    "DELETE FROM execution WHERE revision = (SELECT max(revision) FROM execution)",
    "DELETE FROM delivery", "UPDATE delivery SET state = 'waiting'", "DELETE FROM failed_attempt",
    "UPDATE ledger_entry SET amount = amount + 1 WHERE sequence = 2",
    """
    DELETE FROM ledger_posting WHERE sequence = (SELECT max(sequence) FROM ledger_entry);
    DELETE FROM ledger_entry WHERE sequence = (SELECT max(sequence) FROM ledger_entry)
    """,
    "DELETE FROM ledger_posting WHERE sequence = 1",
    "UPDATE ledger_posting SET account = 'user:eve' WHERE sequence = 1 AND account LIKE 'user:%'",
    "UPDATE ledger_balance SET balance = balance + 1", "DELETE FROM ledger_balance",
    "UPDATE account SET record = replace(record, 'bob', 'rob')",
    "DELETE FROM account WHERE uid = (SELECT max(uid) FROM account)",
    "UPDATE account SET password = NULL", "UPDATE account SET used_at = used_at + 1",
    "UPDATE account_identifier SET uid = 'eve' WHERE value = 'bob@pirates.example'",
    "DELETE FROM refresh_token", "UPDATE refresh_token SET auth_time = auth_time + 86400",
    "UPDATE account_code SET expires_at = expires_at + 1", "DELETE FROM account_code",
    "UPDATE rules SET source = '{\"rules\": {\".write\": true}}'", "DELETE FROM tree_index", "DELETE FROM index_place",
    "UPDATE function SET is_paused = 0", "UPDATE idempotency SET answer = x'00'", "DELETE FROM idempotency",
    "UPDATE audit SET actor = 'admin:eve' WHERE id = 1", "DELETE FROM audit WHERE id = (SELECT max(id) FROM audit)",
    "DELETE FROM audit_chain", "UPDATE room_record SET value = '{}'", "DELETE FROM room_record",
    "DELETE FROM row_digest WHERE name = 'account'", "UPDATE row_digest SET row_count = row_count + 1 WHERE name = 'audit'",
    "DROP INDEX delivery_state; UPDATE account SET uid = uid", "CREATE TABLE song (title TEXT); INSERT INTO song VALUES ('yo')",
    "DELETE FROM long_value", "UPDATE long_value SET value = zeroblob(length(value))", "UPDATE long_value SET id = -id",
    "INSERT INTO long_value SELECT max(id) + 1, tag, value FROM long_value", "UPDATE long_value SET tag = x'02'",
    "INSERT INTO service_account VALUES ('k', 'eve', 'e', 'admin', 'p', 't', 1, 'admin:eve', NULL)",
  ]

  @Test("Every edit by hand is seen")
  func edits() async throws {
    let store = try await WrittenStore.shared.value
    for edit in Self.edits {
      let copy = try store.copy(store.bytes)
      #expect(try store.edit(edit, in: copy), "\(edit) changes nothing: the store holds too little.")
      #expect(try store.errors(in: copy) != [], "\(edit)")
    }
  }

  @Test(
    "What follows from other rows is compared with them, so it is seen even where the digests were put right too",
    arguments: [
      "DELETE FROM room_record WHERE kind = 'referral' AND key = 'alice/bob'",
      "UPDATE room_record SET key = 'eve/bob' WHERE kind = 'referral' AND key = 'alice/bob'",
      "UPDATE room_record SET value = 'false' WHERE kind = 'referral' AND key = 'alice/bob'",
      "INSERT INTO room_record SELECT ns, kind, 'eve/bob', value FROM room_record WHERE key = 'alice/bob'",
      "INSERT INTO room_record SELECT ns, kind, 'nonsense', value FROM room_record WHERE key = 'alice/bob'",
    ])
  func derived(edit: String) async throws {
    let store = try await WrittenStore.shared.value
    let copy = try store.copy(store.bytes)
    #expect(try store.edit(edit, in: copy, withDigests: true), "The store holds too little.")
    let errors = try store.errors(in: copy)
    #expect(errors.contains { $0.contains("The index of referrals") }, "\(errors)")
    #expect(!errors.contains { $0.contains("digest") })
  }
}

/// A generator whose numbers are the same in every run.
private struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    var word = state ^ (state >> 33)
    word = word &* 0xFF51_AFD7_ED55_8CCD
    return word ^ (word >> 33)
  }
}
