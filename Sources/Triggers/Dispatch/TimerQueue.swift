import HeapModule
import StorageCore
import Synchronization

/// What is to happen at which time, the earliest first; equal times in the order of their adding.
struct TimerQueue<Element> {
  private struct Entry: Comparable {
    let time: Int64
    let order: Int
    let element: Element

    static func == (a: Entry, b: Entry) -> Bool { a.order == b.order }
    static func < (a: Entry, b: Entry) -> Bool { (a.time, a.order) < (b.time, b.order) }
  }

  private var heap = Heap<Entry>()
  private var added = 0

  var count: Int { heap.count }
  /// The earliest time; nil if nothing is to happen.
  var earliest: Int64? { heap.min?.time }

  mutating func add(_ element: Element, at time: Int64) {
    added += 1
    heap.insert(Entry(time: time, order: added, element: element))
  }

  /// The next element whose time has come.
  mutating func popDue(at now: Int64) -> Element? {
    guard let first = heap.min, first.time <= now else { return nil }
    return heap.removeMin().element
  }

  /// Takes out what fits, earliest first.
  mutating func remove(where fits: (Element) -> Bool) -> [Element] {
    let all = heap.unordered.sorted()
    heap = Heap(all.filter { !fits($0.element) })
    return all.map(\.element).filter(fits)
  }
}

/// Waits for a time, or for somebody who finds that it should be earlier.
final class WakeUpTimer: Sendable {
  private struct State {
    var isRung = false
    var continuation: CheckedContinuation<Void, Never>?
  }

  private let clock: any WallClock
  private let state = Mutex(State())

  init(clock: any WallClock) {
    self.clock = clock
  }

  /// Ends the wait, or the next one if nobody waits.
  func ring() {
    state.withLock { state in
      guard let waiting = state.continuation.take() else {
        state.isRung = true
        return nil as CheckedContinuation<Void, Never>?
      }
      return waiting
    }?.resume()
  }

  /// Returns at `time`, when rung, or when the task is cancelled. One may wait at a time.
  func wait(until time: Int64?) async {
    guard let time else { return await waitForRing() }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.waitForRing() }
      group.addTask { try? await self.clock.sleep(until: time) }
      await group.next()
      group.cancelAll()
    }
  }

  private func waitForRing() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isRung = state.withLock { state in
          if state.isRung || Task.isCancelled {
            state.isRung = false
            return true
          }
          state.continuation = continuation
          return false
        }
        if isRung { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.continuation.take() }?.resume()
    }
  }
}
