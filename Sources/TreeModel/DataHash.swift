import Crypto

extension TreeNode {
  /// The hash by which clients and server compare data: base64 of SHA-1 (spec: rtdb-protocol §3.6).
  ///
  /// - Returns: 28 characters; the empty string for an absent node.
  public var dataHash: String {
    DataHash(variant: .exact).text(of: self)
  }

  /// Whether a client that holds this node may have computed `dataHash`.
  ///
  /// Some clients compute it differently for a few values; those results count as equal, for otherwise a transaction over
  /// such a value could never succeed.
  public func matches(dataHash: String) -> Bool {
    guard exists else { return dataHash.isEmpty }
    guard !dataHash.isEmpty else { return false }
    return DataHash.Variant.allCases.contains { DataHash(variant: $0).text(of: self) == dataHash }
  }
}

/// One way of computing data hashes.
struct DataHash {
  enum Variant: CaseIterable {
    /// As specified.
    case exact
    /// JavaScript's exponent of numbers close to powers of two is one off.
    case javaScriptExponent
    /// iOS takes the children in key order when all of them have priorities.
    case keyOrder
  }

  let variant: Variant

  func text(of node: TreeNode) -> String {
    var hashed: [UInt8] = []
    if let priority = node.priority {
      hashed.append(contentsOf: "priority:".utf8)
      append(priority, to: &hashed)
      hashed.append(UInt8(ascii: ":"))
    }
    switch node.content {
    case .absent: return ""
    case .leaf(let scalar): append(scalar, to: &hashed)
    case .map(let map):
      for entry in ordered(map) {
        hashed.append(UInt8(ascii: ":"))
        hashed.append(contentsOf: entry.key.text.utf8)
        hashed.append(UInt8(ascii: ":"))
        hashed.append(contentsOf: text(of: entry.node).utf8)
      }
    }
    return Self.digest(hashed)
  }

  /// SHA-1 in base64.
  static func digest(_ hashed: [UInt8]) -> String {
    base64(Insecure.SHA1.hash(data: hashed))
  }

  private func ordered(_ map: TreeMap) -> [TreeMap.Entry] {
    let prioritised = map.count { $0.node.priority != nil }
    if prioritised == 0 || (variant == .keyOrder && prioritised == map.count) { return Array(map) }
    return map.sorted(by: NodeOrder.priority.precedes)
  }

  private func append(_ scalar: Scalar, to hashed: inout [UInt8]) {
    switch scalar {
    case .bool(let value): hashed.append(contentsOf: (value ? "boolean:true" : "boolean:false").utf8)
    case .int(let value): append(Double(value), to: &hashed)
    case .double(let value): append(value, to: &hashed)
    case .string(let value):
      hashed.append(contentsOf: "string:".utf8)
      hashed.append(contentsOf: value.utf8)
    }
  }

  private func append(_ number: Double, to hashed: inout [UInt8]) {
    hashed.append(contentsOf: "number:".utf8)
    let bits = variant == .javaScriptExponent ? JavaScriptDouble.bitPattern(number) : number.bitPattern
    for shift in stride(from: 60, through: 0, by: -4) {
      let digit = UInt8(truncatingIfNeeded: bits >> UInt64(shift)) & 0x0F
      hashed.append(digit < 10 ? digit + 0x30 : digit + 87)
    }
  }

  /// Base64 with padding; 20 bytes give 28 characters.
  static func base64(_ bytes: some Sequence<UInt8>) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    var buffer: UInt32 = 0
    var bitCount = 0
    for byte in bytes {
      buffer = buffer << 8 | UInt32(byte)
      bitCount += 8
      while bitCount >= 6 {
        bitCount -= 6
        text.append(alphabet[Int(buffer >> UInt32(bitCount)) & 63])
      }
      buffer &= (1 << UInt32(bitCount)) - 1
    }
    if bitCount > 0 { text.append(alphabet[Int(buffer << UInt32(6 - bitCount)) & 63]) }
    while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
    return String(decoding: text, as: UTF8.self)
  }
}
