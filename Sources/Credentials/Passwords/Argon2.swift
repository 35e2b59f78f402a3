/// The password hash Argon2 (RFC 9106), for accounts that come from elsewhere; new passwords are not hashed with it.
enum Argon2 {
  /// Which blocks are looked at: by what is there (`d`), by position (`i`), first the one, then the other (`id`).
  enum Variant: String, Sendable, Hashable {
    case d = "argon2d"
    case i = "argon2i"
    case id = "argon2id"

    var number: UInt32 {
      switch self {
      case .d: 0
      case .i: 1
      case .id: 2
      }
    }
  }

  struct Parameters: Sendable, Hashable {
    let variant: Variant
    /// How often the memory is passed over.
    let passes: Int
    /// KiB.
    let memory: Int
    let lanes: Int
    /// 0x10 or 0x13.
    let version: Int
    /// Data that belongs to the hash.
    let associated: [UInt8]
    /// A key of the application; only test vectors have one.
    var secret: [UInt8] = []

    /// Memory and work are what Firebase allows: 32 MiB, passed over 16 times.
    var isBounded: Bool {
      (1...16).contains(passes) && (8...32_768).contains(memory) && (1...16).contains(lanes) && memory >= 8 * lanes
        && (version == 0x10 || version == 0x13) && associated.count <= 64
    }
  }

  static func hash(_ password: [UInt8], salt: [UInt8], _ parameters: Parameters, size: Int) -> [UInt8]? {
    var memory = Argon2Memory(parameters)
    return memory.hash(password, salt: salt, size: size)
  }
}

/// The blocks that Argon2 fills (RFC 9106 §3).
struct Argon2Memory: ~Copyable {
  /// Words of a block: 1 KiB.
  private static let words = 128
  /// Slices of a pass; lanes wait for each other between them.
  private static let slices = 4

  private let parameters: Argon2.Parameters
  private let laneLength: Int
  private let blockCount: Int
  private let blocks: UnsafeMutablePointer<UInt64>
  /// Two blocks to work in.
  private let scratch: UnsafeMutablePointer<UInt64>

  init(_ parameters: Argon2.Parameters) {
    self.parameters = parameters
    laneLength = parameters.memory / (Self.slices * parameters.lanes) * Self.slices
    blockCount = laneLength * parameters.lanes
    blocks = .allocate(capacity: blockCount * Self.words)
    blocks.initialize(repeating: 0, count: blockCount * Self.words)
    scratch = .allocate(capacity: 2 * Self.words)
    scratch.initialize(repeating: 0, count: 2 * Self.words)
  }

  deinit {
    blocks.update(repeating: 0, count: blockCount * Self.words)
    blocks.deallocate()
    scratch.deallocate()
  }

  /// The hash. To be called once.
  mutating func hash(_ password: [UInt8], salt: [UInt8], size: Int) -> [UInt8] {
    start(password, salt: salt, size: size)
    for pass in 0..<parameters.passes {
      for slice in 0..<Self.slices {
        for lane in 0..<parameters.lanes { fill(pass, slice: slice, lane: lane) }
      }
    }
    var last = [UInt64](repeating: 0, count: Self.words)
    for lane in 0..<parameters.lanes {
      let block = block(lane, column: laneLength - 1)
      for word in 0..<Self.words { last[word] ^= block[word] }
    }
    return Self.longHash(last.flatMap(Self.bytes), size: size)
  }

  private borrowing func block(_ lane: Int, column: Int) -> UnsafeMutablePointer<UInt64> {
    blocks + (lane * laneLength + column) * Self.words
  }

  /// The first two blocks of each lane.
  private mutating func start(_ password: [UInt8], salt: [UInt8], size: Int) {
    func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
    var input: [UInt8] = []
    for value in [
      parameters.lanes, size, parameters.memory, parameters.passes, parameters.version, Int(parameters.variant.number),
    ] {
      input += number(value)
    }
    for part in [password, salt, parameters.secret, parameters.associated] { input += number(part.count) + part }
    let seed = Blake2b.hash(input, size: 64)
    for lane in 0..<parameters.lanes {
      for column in 0..<2 {
        let bytes = Self.longHash(seed + number(column) + number(lane), size: 1024)
        let target = block(lane, column: column)
        for word in 0..<Self.words {
          target[word] = (0..<8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[word * 8 + $1]) }
        }
      }
    }
  }

  /// A hash of any length.
  private static func longHash(_ input: [UInt8], size: Int) -> [UInt8] {
    let input = (0..<4).map { UInt8(truncatingIfNeeded: size >> ($0 * 8)) } + input
    guard size > 64 else { return Blake2b.hash(input, size: size) }
    var result: [UInt8] = []
    var last = Blake2b.hash(input, size: 64)
    while size - result.count > 64 {
      result += last.prefix(32)
      let rest = size - result.count
      last = Blake2b.hash(last, size: rest > 64 ? 64 : rest)
    }
    return result + last
  }

  private static func bytes(_ word: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
}

extension Argon2Memory {
  /// One segment: a lane's part of a slice.
  private mutating func fill(_ pass: Int, slice: Int, lane: Int) {
    let segment = laneLength / Self.slices
    let isByPosition =
      parameters.variant == .i || (parameters.variant == .id && pass == 0 && slice < Self.slices / 2)
    var addresses = [UInt64](repeating: 0, count: isByPosition ? Self.words : 0)
    var counter: UInt64 = 0
    for index in 0..<segment {
      if isByPosition && index % Self.words == 0 {
        counter += 1
        addresses = nextAddresses(pass, slice: slice, lane: lane, counter: counter)
      }
      if pass == 0 && slice == 0 && index < 2 { continue }
      let column = slice * segment + index
      let previous = block(lane, column: (column + laneLength - 1) % laneLength)
      let chance = isByPosition ? addresses[index % Self.words] : previous[0]
      let reference = reference(chance, pass: pass, slice: slice, lane: lane, index: index)
      let target = block(lane, column: column)
      compress(previous, reference, into: target, adding: pass > 0 && parameters.version == 0x13)
    }
  }

  /// 128 numbers that depend on the position alone.
  private mutating func nextAddresses(_ pass: Int, slice: Int, lane: Int, counter: UInt64) -> [UInt64] {
    var input = [UInt64](repeating: 0, count: Self.words)
    let head = [pass, lane, slice, blockCount, parameters.passes, Int(parameters.variant.number)]
    for (index, value) in head.enumerated() { input[index] = UInt64(value) }
    input[6] = counter
    let zero = [UInt64](repeating: 0, count: Self.words)
    var result = zero
    for _ in 0..<2 {
      zero.withUnsafeBufferPointer { zero in
        input.withUnsafeBufferPointer { input in
          result.withUnsafeMutableBufferPointer { result in
            if let zero = zero.baseAddress, let input = input.baseAddress, let result = result.baseAddress {
              compress(zero, input, into: result, adding: false)
            }
          }
        }
      }
      input = result
    }
    return result
  }

  /// The block that is mixed in.
  private func reference(_ chance: UInt64, pass: Int, slice: Int, lane: Int, index: Int) -> UnsafeMutablePointer<UInt64> {
    let segment = laneLength / Self.slices
    let isFirst = pass == 0 && slice == 0
    let other = isFirst ? lane : Int((chance >> 32) % UInt64(parameters.lanes))
    // How many blocks can be chosen from: the finished segments, and of the own lane what is there of this one.
    let finished = pass == 0 ? slice * segment : laneLength - segment
    let area = other == lane ? finished + index - 1 : finished - (index == 0 ? 1 : 0)
    let x = chance & 0xFFFF_FFFF
    let y = (x * x) >> 32
    let z = (UInt64(area) * y) >> 32
    let start = pass == 0 || slice == Self.slices - 1 ? 0 : (slice + 1) * segment
    return block(other, column: (start + area - 1 - Int(z)) % laneLength)
  }

  /// The function G.
  private func compress(
    _ x: UnsafePointer<UInt64>, _ y: UnsafePointer<UInt64>, into target: UnsafeMutablePointer<UInt64>, adding: Bool
  ) {
    let r = scratch
    let z = scratch + Self.words
    for word in 0..<Self.words {
      r[word] = x[word] ^ y[word]
      z[word] = r[word]
    }
    for row in 0..<8 { Self.permute(z + row * 16, stride: 2, step: 1) }
    for column in 0..<8 { Self.permute(z + column * 2, stride: 16, step: 1) }
    for word in 0..<Self.words { target[word] = (adding ? target[word] : 0) ^ r[word] ^ z[word] }
  }

  /// The permutation P on eight pairs of words, `stride` words from pair to pair.
  private static func permute(_ v: UnsafeMutablePointer<UInt64>, stride: Int, step: Int) {
    @inline(__always)
    func at(_ index: Int) -> Int { (index >> 1) * stride + (index & 1) * step }
    for (a, b, c, d) in quarters { mix(v + at(a), v + at(b), v + at(c), v + at(d)) }
  }

  private static let quarters = [
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
  ]

  @inline(__always)
  private static func mix(
    _ a: UnsafeMutablePointer<UInt64>, _ b: UnsafeMutablePointer<UInt64>, _ c: UnsafeMutablePointer<UInt64>,
    _ d: UnsafeMutablePointer<UInt64>
  ) {
    @inline(__always)
    func multiplied(_ x: UInt64, _ y: UInt64) -> UInt64 { x &+ y &+ 2 &* (x & 0xFFFF_FFFF) &* (y & 0xFFFF_FFFF) }
    @inline(__always)
    func rotated(_ word: UInt64, count: UInt64) -> UInt64 { word >> count | word << (64 &- count) }
    a.pointee = multiplied(a.pointee, b.pointee)
    d.pointee = rotated(d.pointee ^ a.pointee, count: 32)
    c.pointee = multiplied(c.pointee, d.pointee)
    b.pointee = rotated(b.pointee ^ c.pointee, count: 24)
    a.pointee = multiplied(a.pointee, b.pointee)
    d.pointee = rotated(d.pointee ^ a.pointee, count: 16)
    c.pointee = multiplied(c.pointee, d.pointee)
    b.pointee = rotated(b.pointee ^ c.pointee, count: 63)
  }
}

/// The hash function BLAKE2b without a key (RFC 7693): what Argon2 is made of.
struct Blake2b {
  private static let initial: [UInt64] = [
    0x6A09_E667_F3BC_C908, 0xBB67_AE85_84CA_A73B, 0x3C6E_F372_FE94_F82B, 0xA54F_F53A_5F1D_36F1, 0x510E_527F_ADE6_82D1,
    0x9B05_688C_2B3E_6C1F, 0x1F83_D9AB_FB41_BD6B, 0x5BE0_CD19_137E_2179,
  ]
  private static let order: [[Int]] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4], [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13], [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11], [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5], [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
  ]

  /// - `size`: how many bytes the hash has, 1 to 64.
  static func hash(_ bytes: [UInt8], size: Int) -> [UInt8] {
    var state = initial
    state[0] ^= 0x0101_0000 ^ UInt64(size)
    var offset = 0
    while bytes.count - offset > 128 {
      compress(&state, block: bytes[offset..<(offset + 128)], count: offset + 128, isLast: false)
      offset += 128
    }
    let rest = bytes[offset...] + [UInt8](repeating: 0, count: 128 - (bytes.count - offset))
    compress(&state, block: rest[...], count: bytes.count, isLast: true)
    return Array(state.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }.prefix(size))
  }

  private static func compress(_ state: inout [UInt64], block: ArraySlice<UInt8>, count: Int, isLast: Bool) {
    let start = block.startIndex
    let words = (0..<16).map { word in
      (0..<8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(block[start + word * 8 + $1]) }
    }
    var v = state + initial
    v[12] ^= UInt64(count)
    if isLast { v[14] = ~v[14] }
    for round in 0..<12 {
      let s = order[round % 10]
      for (index, columns) in mixes.enumerated() {
        mix(&v, columns, words[s[index * 2]], words[s[index * 2 + 1]])
      }
    }
    for index in 0..<8 { state[index] ^= v[index] ^ v[index + 8] }
  }

  /// Which four words are mixed: the columns, then the diagonals.
  private static let mixes = [
    [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15], [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
  ]

  private static func mix(_ v: inout [UInt64], _ at: [Int], _ x: UInt64, _ y: UInt64) {
    let (a, b, c, d) = (at[0], at[1], at[2], at[3])
    v[a] = v[a] &+ v[b] &+ x
    v[d] = rotated(v[d] ^ v[a], count: 32)
    v[c] = v[c] &+ v[d]
    v[b] = rotated(v[b] ^ v[c], count: 24)
    v[a] = v[a] &+ v[b] &+ y
    v[d] = rotated(v[d] ^ v[a], count: 16)
    v[c] = v[c] &+ v[d]
    v[b] = rotated(v[b] ^ v[c], count: 63)
  }

  private static func rotated(_ word: UInt64, count: UInt64) -> UInt64 { word >> count | word << (64 - count) }
}
