/// What a connection is not given yet because a listen that began before has not got its first event, in order.
struct HeldDeliveries {
  enum Item {
    /// The first event of a listen, which may not be here yet.
    case first(Listening)
    case change(ListenMessage, Listening)
    /// What is to happen when everything before it was given.
    case run(@Sendable () -> Void)
  }

  /// What a message takes beyond its body.
  private static let messageBytes = 64

  private var items: [Item] = []
  private var start = 0
  /// Bytes of the changes, and of first events that have to wait.
  private var bytes = 0
  private let bytesMax: Int

  init(bytesMax: Int) {
    self.bytesMax = bytesMax
  }

  var isEmpty: Bool { start == items.count }
  var first: Item? { isEmpty ? nil : items[start] }

  /// Whether a listen's first event is the next thing to be given.
  func isNext(_ listening: Listening) -> Bool {
    if case .first(let next) = first { next === listening } else { false }
  }

  mutating func append(_ listening: Listening) { items.append(.first(listening)) }
  mutating func append(_ work: @escaping @Sendable () -> Void) { items.append(.run(work)) }

  /// - Parameter isLate: whether the change is older than it seems, see ``DeliveryQueue/Item``: work that waits for it may be here
  ///   already, and stays behind it.
  /// - Returns: false if there is too much already: it was not taken.
  mutating func append(_ change: ListenMessage, for listening: Listening, isLate: Bool) -> Bool {
    guard take(change) else { return false }
    items.insert(.change(change, listening), at: isLate ? firstWork(behind: listening) : items.count)
    return true
  }

  /// Where the first work stands that waits for a listen's first event.
  private func firstWork(behind listening: Listening) -> Int {
    var isBehind = false
    let index = items[start...].firstIndex { item in
      switch item {
      case .first(let other): isBehind = isBehind || other === listening
      case .change: break
      case .run: return isBehind
      }
      return false
    }
    return index ?? items.count
  }

  /// Counts a message that waits elsewhere.
  ///
  /// - Returns: false if there is too much already: it is not counted, and must be let go.
  mutating func take(_ message: ListenMessage) -> Bool {
    let size = message.body.count + Self.messageBytes
    guard bytes + size <= bytesMax else { return false }
    bytes += size
    return true
  }

  /// Counts no more what ``take(_:)`` counted.
  mutating func release(_ message: ListenMessage) { bytes -= message.body.count + Self.messageBytes }

  mutating func removeFirst() {
    if case .change(let message, _) = items[start] { release(message) }
    start += 1
    guard start == items.count || start >= 256 else { return }
    items.removeFirst(start)
    start = 0
  }
}
