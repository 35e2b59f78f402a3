import StorageCore
import Testing

/// Names and numbers that other rooms, and people's scripts, rely on.
@Suite struct LimitTests {
  @Test(
    "a namespace's name has letters, digits and hyphens, 1 to 64 of them",
    arguments: [
      ("demo-default-rtdb", true), ("a", true), ("-", true), ("0", true), ("Z9", true),
      (String(repeating: "n", count: 64), true),
      (String(repeating: "n", count: 65), false), ("", false), ("a.b", false), ("a_b", false), ("a b", false), ("a/b", false),
      ("é", false), ("e\u{301}", false), ("a\u{0}", false), ("a\n", false), ("٣", false), ("Ａ", false),
    ])
  func namespaceNames(_ name: String, _ isLegal: Bool) {
    #expect(NamespaceName.isLegal(name) == isLegal)
  }

  @Test("one commit may do as much as the documentation says")
  func writeLimits() {
    let limits = WriteLimits()
    #expect(limits.leavesMax == 100_000)
    #expect(limits.bytesMax == 16 * 1024 * 1024)
    #expect(limits.eventsMax == 1000)
    #expect(limits.eventBytesMax == 1024 * 1024)
    #expect(limits.hopsMax == 8)
    #expect(limits.queueMax == 16_384)
    #expect(limits.batchMax == 512)
    #expect(WriteLimits(hopsMax: 3) != limits)
  }

  @Test("there is one migration for each version after the first, oldest first")
  func migrations() {
    #expect(SchemaMigration.all.map(\.from) == Array(1..<SchemaScript.version))
    #expect(SchemaScript.text.contains("the whole current schema (version \(SchemaScript.version))"))
  }

  @Test("a namespace begins before its first commit and its first entry")
  func head() {
    let head = NamespaceHead()
    #expect(head.revision == .zero)
    #expect(head.entrySequence == 0)
    #expect(head.commitHash == [UInt8](repeating: 0, count: 32))
    #expect(head.entryHash == head.commitHash)
  }

  @Test("a fault of the store refuses a request as unavailable, in the store's words")
  func storeFaults() {
    let refusal = CommitRefusal(StorageError(.full, "The disk is full. Make room and start again."))
    guard case .unavailable = refusal.code else {
      Issue.record("\(refusal.code)")
      return
    }
    #expect(refusal.message == "The disk is full. Make room and start again.")
  }
}
