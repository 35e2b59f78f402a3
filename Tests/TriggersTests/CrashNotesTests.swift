import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import Triggers

struct CrashNotesTests {
  /// What a process leaves that dies during a run.
  static func leave(_ note: CrashNote, in folder: TemporaryFolder) {
    try? CrashNotes(path: folder.file("crash-notes")).write(note, to: 0)
  }

  private func note(_ path: Path, _ function: String = "pay") -> CrashNote {
    CrashNote(
      namespace: NamespaceID(rawValue: 3), event: EventID(epoch: 2, revision: Revision(77), path: PathBytes(path)),
      function: function)
  }

  @Test(arguments: [
    "/", "/users/bob/level", "/users/ключ/😀/00/-5",
    Path(keys: (0..<32).map { _ in Key(unchecked: String(repeating: "k", count: 768)) }),
  ])
  func aNoteIsReadAsItWasWritten(path: Path) throws {
    let folder = TemporaryFolder()
    do {
      let notes = try CrashNotes(path: folder.file("notes"))
      notes.write(note(path), to: 63)
      notes.write(note("/other", "fonction é"), to: 0)
      notes.write(note("/cleared"), to: 1)
      notes.clear(1)
    }
    let again = try CrashNotes(path: folder.file("notes"))
    #expect(again.read() == [note("/other", "fonction é"), note(path)])
    again.clearAll()
    #expect(again.read().isEmpty)
  }

  @Test func damagedNotesAreLeftOut() {
    let bytes = note("/a").bytes
    for count in 0..<32 { #expect(CrashNote(Array(bytes.prefix(count))) == nil) }
    var wrong = bytes
    wrong[31] = 0x7F
    #expect(CrashNote(wrong) == nil)
  }

  @Test func aFolderThatIsNotThereIsAnErrorThatSaysWhere() {
    #expect(throws: StorageError.self) { try CrashNotes(path: "/nonexistent/notes") }
  }
}
