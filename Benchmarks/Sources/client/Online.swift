import Doubloon
import Foundation
import Measuring

/// What needs a server: how soon a large node shows, fresh and from the disk.
struct Online {
  let device: Device
  let sizes: Sizes

  func run() async throws {
    let writer = try device.app("writer")
    try await clear(writer)
    try await snapshot(writer)
    try await start(writer)
    try await clear(writer)
    await writer.delete()
  }

  /// One after the other: a single request may not change that much.
  private func clear(_ writer: DoubloonApp) async throws {
    for name in ["children", "kept"] {
      try await Database.database(app: writer).reference(withPath: "bench/\(name)").removeValue()
    }
  }

  private func snapshot(_ writer: DoubloonApp) async throws {
    let values = Dictionary(uniqueKeysWithValues: (0..<sizes.children).map { (String(format: "k%06d", $0), $0) })
    let place = Database.database(app: writer).reference(withPath: "bench/children")
    try await place.setValue(values)
    let reader = try device.app("reader")
    let seen = Database.database(app: reader).reference(withPath: "bench/children")
    // The connection stands before.
    _ = try await Database.database(app: reader).reference(withPath: "bench/nothing").getData(source: .server)
    var count: UInt = 0
    let time = try await measured {
      for try await snapshot in seen.snapshots {
        count = snapshot.childrenCount
        break
      }
    }
    guard count == UInt(sizes.children) else { throw BenchmarkError("\(count) children came") }
    print("\(sizes.children) children        first event after \(rounded(time, 1)) ms")
    await reader.delete()
  }

  /// A start with data on disk, and nobody to ask.
  private func start(_ writer: DoubloonApp) async throws {
    let text = String(repeating: "x", count: 1000)
    let values = Dictionary(uniqueKeysWithValues: (0..<(sizes.cacheBytes / 1020)).map { ("k\($0)", text) })
    try await Database.database(app: writer).reference(withPath: "bench/kept").setValue(values)
    let first = try device.app("kept")
    let database = Database.database(app: first)
    database.isPersistenceEnabled = true
    database.persistenceCacheSizeBytes = UInt(4 * sizes.cacheBytes)
    let place = database.reference(withPath: "bench/kept")
    place.keepSynced(true)
    _ = try await place.getData()
    let file = try await saved()
    database.goOffline()
    await first.delete()
    // The files are one process's at a time: the next start has a copy.
    try FileManager.default.copyItem(atPath: "\(device.folder)/kept", toPath: "\(device.folder)/again")
    var count: UInt = 0
    let time = try await measured {
      let again = try device.app("again")
      let database = Database.database(app: again)
      database.isPersistenceEnabled = true
      database.goOffline()
      for try await snapshot in database.reference(withPath: "bench/kept").snapshots {
        count = snapshot.childrenCount
        break
      }
    }
    guard count == UInt(values.count) else { throw BenchmarkError("\(count) of \(values.count) children were kept") }
    print("start, \(rounded(Double(file) / 1_048_576, 1)) MB on disk  first event after \(rounded(time, 1)) ms")
  }

  /// Waits until the data are on disk; their bytes.
  private func saved() async throws -> Int {
    let folder = "\(device.folder)/kept/database"
    for _ in 0..<600 {
      let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
      for name in files where name.hasSuffix(".cache") {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
        if let size = attributes[.size] as? Int, size >= sizes.cacheBytes * 9 / 10 { return size }
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw BenchmarkError("the data were not kept within 30 seconds")
  }
}
