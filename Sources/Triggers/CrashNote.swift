import StorageCore
import TreeModel

/// Which run was under way: what is noted before it begins.
struct CrashNote: Sendable, Hashable {
  let namespace: NamespaceID
  let event: EventID
  let function: String
  /// Whether nothing else was running: if the process died then, this run killed it.
  var isAlone = false

  /// The note as bytes: three numbers, the length of the name, the name, the path.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for number in [namespace.rawValue, event.epoch, event.revision.rawValue, Int64(function.utf8.count)] {
      withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
    bytes.append(contentsOf: function.utf8)
    bytes.append(contentsOf: event.path.bytes)
    return bytes
  }

  init(namespace: NamespaceID, event: EventID, function: String, isAlone: Bool = false) {
    self.isAlone = isAlone
    self.namespace = namespace
    self.event = event
    self.function = function
  }

  /// Reads what ``bytes`` wrote; nil if it is not that.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 32 else { return nil }
    let numbers = (0..<4).map { field in
      bytes[field * 8..<field * 8 + 8].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
    }
    guard numbers[3] >= 0, numbers[3] <= Int64(bytes.count - 32) else { return nil }
    let nameEnd = 32 + Int(numbers[3])
    guard let function = String(validating: bytes[32..<nameEnd], as: UTF8.self) else { return nil }
    namespace = NamespaceID(rawValue: numbers[0])
    event = EventID(
      epoch: numbers[1], revision: Revision(numbers[2]), path: PathBytes(bytes: Array(bytes[nameEnd...])))
    self.function = function
  }
}
