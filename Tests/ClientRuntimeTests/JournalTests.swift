import ClientRuntime
import Foundation
import TestSupport
import Testing

/// Files that survive the end of the process at any byte.
@Suite struct JournalTests {
  @Test("records come back in order, and after more of them")
  func roundTrip() throws {
    let folder = TemporaryFolder()
    let path = folder.file("deep/er/writes.log")
    let records: [[UInt8]] = [[], [1], Array(repeating: 7, count: 100_000)]
    do {
      let opened = try Journal.open(path)
      #expect(opened.records.isEmpty)
      for record in records { try opened.journal.append(record, isDurable: true) }
    }
    do {
      let again = try Journal.open(path)
      #expect(again.records == records)
      #expect(again.bytesCut == 0)
      try again.journal.append([9])
    }
    #expect(try Journal.open(path).records == records + [[9]])
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test("cut at any byte, the whole records before are kept, and writing goes on")
  func torn() throws {
    let folder = TemporaryFolder()
    let path = folder.file("writes.log")
    let records: [[UInt8]] = [[1, 2, 3], [4], [5, 6]]
    do {
      let journal = try Journal.open(path).journal
      for record in records { try journal.append(record) }
    }
    let whole = try #require(FileManager.default.contents(atPath: path))
    let ends = records.reduce(into: [0]) { $0.append($0[$0.count - 1] + 8 + $1.count) }
    for count in 0...whole.count {
      let file = folder.file("torn-\(count)")
      try whole.prefix(count).write(to: URL(fileURLWithPath: file))
      let kept = ends.lastIndex { $0 <= count } ?? 0
      do {
        let opened = try Journal.open(file)
        #expect(opened.records == Array(records.prefix(kept)))
        #expect(Int(opened.bytesCut) == count - ends[kept])
        try opened.journal.append([8])
      }
      #expect(try Journal.open(file).records == Array(records.prefix(kept)) + [[8]])
    }
  }

  @Test("a flipped bit ends the records before it")
  func flipped() throws {
    let folder = TemporaryFolder()
    let path = folder.file("writes.log")
    do {
      let journal = try Journal.open(path).journal
      for record in [[1, 2, 3], [4, 5, 6]] as [[UInt8]] { try journal.append(record) }
    }
    let whole = [UInt8](try #require(FileManager.default.contents(atPath: path)))
    for index in whole.indices {
      var bytes = whole
      bytes[index] ^= 0x10
      let file = folder.file("flipped-\(index)")
      try Data(bytes).write(to: URL(fileURLWithPath: file))
      #expect(try Journal.open(file).records == (index < 11 ? [] : [[1, 2, 3]]), "byte \(index)")
    }
    let zeros = folder.file("zeros")
    try Data(count: 64).write(to: URL(fileURLWithPath: zeros))
    #expect(try Journal.open(zeros).records.isEmpty)
  }

  @Test("a second user, a folder that cannot be written, a path that is a folder: an error with the path")
  func refused() throws {
    let folder = TemporaryFolder()
    let path = folder.file("writes.log")
    let first = try Journal.open(path)
    try first.journal.append([1])
    for place in [path, "/proc/nothing/writes.log", folder.path] {
      do throws(Journal.Failure) {
        _ = try Journal.open(place)
        Issue.record("\(place) was opened")
      } catch {
        #expect(error.description.contains(place))
      }
    }
    #expect(first.journal.size == 9)
  }

  @Test("all records are replaced, and the file can be written on")
  func replaced() throws {
    let folder = TemporaryFolder()
    let path = folder.file("writes.log")
    var journal = try Journal.open(path).journal
    for number in 0..<100 { try journal.append([UInt8(number)]) }
    journal = try journal.replace(with: [[1], [2]])
    try journal.append([3])
    #expect(journal.size == 27)
    let copy = folder.file("copy")
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    #expect(try Journal.open(copy).records == [[1], [2], [3]])
  }
}
