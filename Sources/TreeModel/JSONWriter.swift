/// Prints JSON into a growing buffer.
///
/// Numbers read exactly as JavaScript prints them. Values can be written whole (``write(_:)``) or piece by piece:
/// ``beginObject()``, ``key(_:)`` before each value, ``endObject()``; ``beginArray()``, ``element()`` before each value,
/// ``endArray()``. The writer puts commas and, in pretty mode, line breaks.
public struct JSONWriter: Sendable {
  /// What was printed so far: UTF-8.
  public var bytes: [UInt8] = []
  private let pretty: Bool
  private var depth = 0
  /// Whether the innermost open container has no member yet. One flag serves all: closing a container means that the
  /// one around it has a member.
  private var isFirst = true

  /// - Parameters:
  ///   - pretty: two spaces of indentation a level, one member a line.
  ///   - capacity: how many bytes to reserve.
  public init(pretty: Bool = false, capacity: Int = 256) {
    self.pretty = pretty
    bytes.reserveCapacity(capacity)
  }

  /// Prints a whole value.
  public mutating func write(_ json: JSON) {
    switch json {
    case .null: null()
    case .bool(let value): bool(value)
    case .int(let value): int(value)
    case .double(let value): double(value)
    case .string(let value): string(value)
    case .array(let elements):
      beginArray()
      for value in elements {
        element()
        write(value)
      }
      endArray()
    case .object(let members):
      beginObject()
      for member in members {
        key(member.key)
        write(member.value)
      }
      endObject()
    }
  }

  /// Appends bytes as they are: they must be JSON that fits here.
  public mutating func raw(_ json: some Sequence<UInt8>) { bytes.append(contentsOf: json) }

  /// Appends a text as it is: it must be JSON that fits here.
  public mutating func raw(_ json: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount))
  }

  /// Opens an object.
  public mutating func beginObject() { open(UInt8(ascii: "{")) }

  /// Closes the innermost container, an object.
  public mutating func endObject() { close(UInt8(ascii: "}")) }

  /// Opens an array.
  public mutating func beginArray() { open(UInt8(ascii: "[")) }

  /// Closes the innermost container, an array.
  public mutating func endArray() { close(UInt8(ascii: "]")) }

  /// Starts a member of the innermost object; its value comes next.
  public mutating func key(_ name: String) {
    element()
    string(name)
    bytes.append(UInt8(ascii: ":"))
    if pretty { bytes.append(UInt8(ascii: " ")) }
  }

  /// Starts an element of the innermost array; its value comes next.
  public mutating func element() {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    breakLine()
  }

  private mutating func open(_ bracket: UInt8) {
    bytes.append(bracket)
    depth += 1
    isFirst = true
  }

  private mutating func close(_ bracket: UInt8) {
    depth -= 1
    if !isFirst { breakLine() }
    bytes.append(bracket)
    isFirst = false
  }

  private mutating func breakLine() {
    guard pretty else { return }
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
  }
}
