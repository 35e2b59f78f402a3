import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import Triggers

/// The notes of a process that died, on their way to another node.
struct CrashNoteFileTests {
  private let folder = TemporaryFolder()

  private func note(_ number: Int64) -> CrashNote {
    CrashNote(
      namespace: NamespaceID(rawValue: 1), event: EventID(epoch: 1, revision: Revision(number), path: PathBytes("/fuses/a")),
      function: "fuse", isAlone: number == 1)
  }

  @Test("What a process has noted stands beside what the next one has, and is forgotten where it was")
  func carried() throws {
    let (dead, next) = (folder.file("dead.notes"), folder.file("next.notes"))
    let notes = try CrashNotes(path: dead)
    for number in 1...3 { notes.write(note(Int64(number)), to: 2 * number) }
    notes.clear(4)
    try CrashNotes(path: next).write(note(9), to: 0)
    let carried = try CrashNoteFile(path: dead).notes()
    #expect(carried.count == 2)
    try CrashNoteFile(path: next).add(carried)
    try CrashNoteFile(path: dead).clear()
    #expect(try CrashNoteFile(path: dead).notes().isEmpty)
    let found = try CrashNotes(path: next).read()
    #expect(found == [note(9), note(1), note(3)])
  }

  @Test("Where there are none nothing is carried; more than there is room for, and what is no note, do no harm")
  func bounds() throws {
    let file = CrashNoteFile(path: folder.file("none.notes"))
    #expect(try file.notes().isEmpty)
    try file.add([])
    let notes = try CrashNotes(path: folder.file("full.notes"))
    for slot in 0..<notes.slotCount { notes.write(note(Int64(slot)), to: slot) }
    try file.add([[], [1, 2, 3], [UInt8](repeating: 255, count: 100_000)] + notes.slots() + notes.slots())
    let found = try CrashNotes(path: folder.file("none.notes")).read()
    #expect((1...notes.slotCount).contains(found.count) && Set(found).isSubset(of: notes.read()))
  }
}
