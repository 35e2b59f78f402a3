/// Reads the text of a pattern. Over bytes: a URL is ASCII by the time that it is matched.
struct PatternParser {
  private let bytes: [UInt8]
  private var at = 0
  private var depth = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func parse() throws(URLPattern.Fault) -> PatternNode {
    let node = try choice()
    guard at == bytes.count else { throw fault("there is a ) without its (") }
    return node
  }

  private func fault(_ text: String) -> URLPattern.Fault { URLPattern.Fault(message: "\(text), at character \(at + 1).") }

  private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

  private mutating func take(_ character: Character) -> Bool {
    guard next == character.asciiValue else { return false }
    at += 1
    return true
  }

  private mutating func choice() throws(URLPattern.Fault) -> PatternNode {
    var ways = [try sequence()]
    while take("|") { ways.append(try sequence()) }
    return ways.count == 1 ? ways[0] : .choice(ways)
  }

  private mutating func sequence() throws(URLPattern.Fault) -> PatternNode {
    var parts: [PatternNode] = []
    while let byte = next, byte != UInt8(ascii: "|"), byte != UInt8(ascii: ")") { parts.append(try repeated()) }
    return parts.isEmpty ? .empty : .sequence(parts)
  }

  private mutating func repeated() throws(URLPattern.Fault) -> PatternNode {
    var node = try atom()
    var isRepeated = false
    while let (min, max) = try quantifier() {
      guard !isRepeated else { throw fault("two repetitions follow each other; put a group around the first") }
      // What asks for as little as possible matches the same texts.
      _ = take("?")
      node = .repeated(node, min: min, max: max)
      isRepeated = true
    }
    return node
  }

  private mutating func quantifier() throws(URLPattern.Fault) -> (min: Int, max: Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    let start = at
    guard take("{"), let min = number() else {
      at = start
      return nil
    }
    var max: Int? = min
    if take(",") { max = number() }
    guard take("}") else {
      at = start
      return nil
    }
    guard min <= 1000, max ?? 0 <= 1000, max.map({ $0 >= min }) ?? true else {
      throw fault("a repetition must be from few to many, 1000 at most")
    }
    return (min, max)
  }

  private mutating func number() -> Int? {
    let start = at
    while let byte = next, (48...57).contains(byte), at - start < 5 { at += 1 }
    return at == start ? nil : Int(String(decoding: bytes[start..<at], as: UTF8.self))
  }

  private mutating func atom() throws(URLPattern.Fault) -> PatternNode {
    guard let byte = next else { throw fault("something is missing") }
    at += 1
    switch byte {
    case UInt8(ascii: "^"): return .start
    case UInt8(ascii: "$"): return .end
    case UInt8(ascii: "."): return .bytes(ByteSet(0x0A...0x0A).inverted)
    case UInt8(ascii: "["): return .bytes(try characterClass())
    case UInt8(ascii: "("): return try group()
    case UInt8(ascii: "\\"): return try escaped()
    case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"):
      at -= 1
      throw fault("there is nothing to repeat")
    default: return .bytes(ByteSet(byte...byte))
    }
  }

  private mutating func group() throws(URLPattern.Fault) -> PatternNode {
    depth += 1
    guard depth <= 50 else { throw fault("groups are nested more than 50 deep") }
    if take("?") {
      guard take(":") else { throw fault("look-around, names and flags are not supported: only ( and (?:") }
    }
    let node = try choice()
    guard take(")") else { throw fault("a ) is missing") }
    depth -= 1
    return node
  }

  private mutating func escaped() throws(URLPattern.Fault) -> PatternNode {
    guard let byte = next else { throw fault("nothing follows the last \\") }
    at += 1
    switch byte {
    case UInt8(ascii: "A"): return .start
    case UInt8(ascii: "z"): return .end
    case UInt8(ascii: "1")...UInt8(ascii: "9"):
      throw fault("back-references cannot be matched in linear time")
    default:
      if let set = Self.named(byte) { return .bytes(set) }
      guard let literal = Self.literal(byte) else {
        throw fault("\\\(Character(Unicode.Scalar(byte))) is not supported")
      }
      return .bytes(ByteSet(literal...literal))
    }
  }

  private mutating func characterClass() throws(URLPattern.Fault) -> ByteSet {
    var set = ByteSet()
    let isInverted = take("^")
    var isFirst = true
    while isFirst || next != UInt8(ascii: "]") {
      guard let byte = next else { throw fault("a ] is missing") }
      at += 1
      isFirst = false
      var low = byte
      if byte == UInt8(ascii: "\\") {
        guard let escaped = next else { throw fault("nothing follows the last \\") }
        at += 1
        if let named = Self.named(escaped) {
          set.formUnion(named)
          continue
        }
        guard let literal = Self.literal(escaped) else {
          throw fault("\\\(Character(Unicode.Scalar(escaped))) is not supported")
        }
        low = literal
      }
      var high = low
      if next == UInt8(ascii: "-"), at + 1 < bytes.count, bytes[at + 1] != UInt8(ascii: "]") {
        at += 1
        high = bytes[at]
        at += 1
        if high == UInt8(ascii: "\\") {
          guard let literal = next.flatMap(Self.literal) else { throw fault("a range must end with a character") }
          at += 1
          high = literal
        }
        guard low <= high else { throw fault("a range goes backwards") }
      }
      set.insert(low...high)
    }
    at += 1
    return isInverted ? set.inverted : set
  }

  private static func named(_ byte: UInt8) -> ByteSet? {
    var set = ByteSet()
    switch byte | 0x20 {
    case UInt8(ascii: "d"): set.insert(48...57)
    case UInt8(ascii: "w"):
      for range: ClosedRange<UInt8> in [48...57, 65...90, 97...122, 95...95] { set.insert(range) }
    case UInt8(ascii: "s"):
      for byte: UInt8 in [9, 10, 12, 13, 32] { set.insert(byte) }
    default: return nil
    }
    return byte & 0x20 == 0 ? set.inverted : set
  }

  /// A character that may stand behind a backslash and then means itself, or a control character.
  private static func literal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "n"): 10
    case UInt8(ascii: "t"): 9
    case UInt8(ascii: "r"): 13
    case 48...57, 65...90, 97...122: nil
    case 0x21...0x7E: byte
    default: nil
    }
  }
}
