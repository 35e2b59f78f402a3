import TreeModel

/// How much of a commit a value takes: its leaves, and about the bytes of their paths and values.
struct ImportWeight: Sendable, Equatable {
  /// As much as one request brings at first; a refusal makes it smaller still.
  struct Limit: Sendable {
    let leaves: Int
    let bytes: Int

    /// Well below what the server takes (design §3): what stood there before counts too, and other writers wait while a
    /// commit is made.
    static let plain = Limit(leaves: 10_000, bytes: 4 << 20)
    /// A commit makes 1,000 events at most, and a leaf may make several.
    static let withTriggers = Limit(leaves: 200, bytes: 1 << 20)
  }

  var leaves = 0
  var bytes = 0

  static let zero = ImportWeight()

  private init() {}

  /// Weighs a value whose path has that many bytes.
  init(_ json: JSON, pathBytes: Int) {
    add(json, pathBytes)
  }

  /// Whether the value goes into one request.
  func fits(_ limit: Limit) -> Bool { leaves <= limit.leaves && bytes <= limit.bytes }

  static func + (a: ImportWeight, b: ImportWeight) -> ImportWeight {
    var sum = a
    sum.leaves += b.leaves
    sum.bytes += b.bytes
    return sum
  }

  private mutating func add(_ json: JSON, _ pathBytes: Int) {
    switch json {
    case .null: return
    case .object(let members):
      for member in members { add(member.value, pathBytes + member.key.utf8.count + 2) }
    case .array(let elements):
      for element in elements { add(element, pathBytes + 6) }
    case .string(let text):
      leaves += 1
      bytes += pathBytes + text.utf8.count
    case .bool, .int, .double:
      leaves += 1
      bytes += pathBytes + 9
    }
  }
}
