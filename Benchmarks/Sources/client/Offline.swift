import Doubloon
import Foundation
import Measuring

/// What happens on the device alone.
struct Offline {
  let device: Device
  let sizes: Sizes

  func run() async throws {
    let idle = Device.memory
    let app = try device.app("offline", at: true)
    let database = Database.database(app: app)
    database.goOffline()
    try await ownWrites(database)
    print("one listener           \(Device.growth(idle)) of memory over nothing")
    try await manyListeners(database)
    try await cachedLeaves(database)
    await app.delete()
  }

  /// From a write to the listener on this device.
  private func ownWrites(_ database: Database) async throws {
    let place = database.reference(withPath: "own/level")
    let (values, continuation) = AsyncStream<Int>.makeStream()
    let handle = place.observe(.value) { continuation.yield($0.int ?? -1) }
    var iterator = values.makeAsyncIterator()
    var times: [Double] = []
    for number in 0..<sizes.writes {
      times.append(
        await measured {
          place.write(number)
          while let value = await iterator.next(), value != number {}
        } * 1000)
      if number % 200 == 0 { database.purgeOutstandingWrites() }
    }
    place.removeObserver(withHandle: handle)
    times.sort()
    print(
      "own write to listener  p50 \(rounded(times[times.count / 2], 1)) µs, p99 \(rounded(times[times.count * 99 / 100], 1)) µs"
    )
  }

  /// Many listeners to as many places, and one write that all of them hear.
  private func manyListeners(_ database: Database) async throws {
    let before = Device.memory
    let (heard, continuation) = AsyncStream<Void>.makeStream()
    let parent = database.reference(withPath: "many")
    let handles = (0..<sizes.listeners).map { number in
      let place = parent.child("p\(number)")
      return (place, place.observe(.value) { _ in continuation.yield() })
    }
    var iterator = heard.makeAsyncIterator()
    let values = Dictionary(uniqueKeysWithValues: (0..<sizes.listeners).map { ("p\($0)", $0) })
    let time = await measured {
      parent.update(values)
      for _ in 0..<sizes.listeners { await iterator.next() }
    }
    let each = Device.growth(before, over: sizes.listeners)
    print("\(sizes.listeners) listeners         \(each) each, all told in \(rounded(time, 1)) ms")
    for (place, handle) in handles { place.removeObserver(withHandle: handle) }
    database.purgeOutstandingWrites()
  }

  /// What a leaf takes that is known here: by the first node, with all the memory that its making took and that the process keeps
  /// for itself, and by eight nodes together, which share that.
  private func cachedLeaves(_ database: Database) async throws {
    let before = Device.memory
    var listening: [AsyncThrowingStream<DataSnapshot, any Error>.Iterator] = []
    var count = 0
    for number in 1...8 {
      let place = database.reference(withPath: "leaves\(number)")
      var iterator = place.snapshots.makeAsyncIterator()
      place.write(Dictionary(uniqueKeysWithValues: (0..<sizes.children).map { (String(format: "k%06d", $0), $0) }))
      guard let snapshot = try await iterator.next() else { throw BenchmarkError("nothing was heard") }
      listening.append(iterator)
      count += Int(snapshot.childrenCount)
      if number == 1 { print("a known leaf           \(Device.growth(before, over: count)), of \(count)") }
    }
    print("                       \(Device.growth(before, over: count)), of \(count)")
    withExtendedLifetime(listening) { database.purgeOutstandingWrites() }
  }
}
