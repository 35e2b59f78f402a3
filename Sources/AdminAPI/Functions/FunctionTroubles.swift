import HTTPServer
import StorageCore
import TreeModel

/// What functions gave up on, and what they failed on and try again, in all namespaces: so many, and the last of them.
struct FunctionTroubles {
  /// Deliveries of one state that are counted.
  static let countMax = 10_000
  private static let pageSize = 1000

  /// What one function has of one state.
  struct Pile {
    let function: String
    var count = 0
    /// The one that was written last.
    var latest: DeliveryRecord
    var namespace: String

    /// `{"count":2,"namespace":"demo","event":"1-7:/users/bob/level","attempts":12,"error":"…","time":…}`
    var json: JSON {
      [
        "count": .int(Int64(count)), "namespace": .string(namespace), "event": .string(latest.event.description),
        "attempts": .int(Int64(latest.attempts)), "error": .string(latest.lastError), "time": .int(latest.updatedAt),
      ]
    }

    static let schema = Schema.object([
      .always("count", .count), .always("namespace", .text, "of the last one"), .always("event", .text),
      .always("attempts", .count), .always("error", .text), .always("time", .time),
    ])
  }

  /// By function.
  private(set) var piles: [Pile] = []
  /// Whether all were counted.
  private(set) var isComplete = true

  init(_ state: DeliveryRecord.State, in snapshot: any Snapshot) throws(StorageError) {
    var rest = Self.countMax
    for namespace in try snapshot.namespaces() {
      var last: DeliveryRecord?
      while rest > 0 {
        let page = try snapshot.deliveries(in: namespace.id, state: state, after: last, limit: min(Self.pageSize, rest))
        // What waits without having failed waits for another one of its key.
        for delivery in page where state == .dead || delivery.attempts > 0 { add(delivery, namespace.name) }
        rest -= page.count
        last = page.last
        if page.count < Self.pageSize { break }
      }
    }
    isComplete = rest > 0
  }

  private mutating func add(_ delivery: DeliveryRecord, _ namespace: String) {
    let position = piles.firstIndex { $0.function == delivery.function }
    let index = position ?? piles.count
    if position == nil { piles.append(Pile(function: delivery.function, latest: delivery, namespace: namespace)) }
    piles[index].count += 1
    guard delivery.updatedAt >= piles[index].latest.updatedAt else { return }
    (piles[index].latest, piles[index].namespace) = (delivery, namespace)
  }

  subscript(function: String) -> Pile? { piles.first { $0.function == function } }

  /// `{"count":3,"complete":true,"functions":[{"function":"pay","count":3,…}]}`
  var json: JSON {
    [
      "count": .int(Int64(piles.reduce(0) { $0 + $1.count })), "complete": .bool(isComplete),
      "functions": .array(
        piles.map { .object([.init(key: "function", value: .string($0.function))] + ($0.json.object ?? [])) }),
    ]
  }

  static let schema = Schema.object([
    .always("count", .count), .always("complete", .boolean, "whether all were counted"),
    .always("functions", .list(.any), "each with its count and its last one: namespace, event, attempts, error, time"),
  ])
}
