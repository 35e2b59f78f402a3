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

  /// - Parameter size: how many bytes the hash has, 1 to 64.
  static func hash(_ bytes: [UInt8], size: Int) -> [UInt8] {
    var state = initial
    state[0] ^= 0x0101_0000 ^ UInt64(size)
    var offset = 0
    while bytes.count - offset > 128 {
      compress(&state, bytes[offset..<(offset + 128)], count: offset + 128, isLast: false)
      offset += 128
    }
    let rest = bytes[offset...] + [UInt8](repeating: 0, count: 128 - (bytes.count - offset))
    compress(&state, rest[...], count: bytes.count, isLast: true)
    return Array(state.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }.prefix(size))
  }

  private static func compress(_ state: inout [UInt64], _ block: ArraySlice<UInt8>, count: Int, isLast: Bool) {
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
    v[d] = rotated(v[d] ^ v[a], 32)
    v[c] = v[c] &+ v[d]
    v[b] = rotated(v[b] ^ v[c], 24)
    v[a] = v[a] &+ v[b] &+ y
    v[d] = rotated(v[d] ^ v[a], 16)
    v[c] = v[c] &+ v[d]
    v[b] = rotated(v[b] ^ v[c], 63)
  }

  private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 { word >> count | word << (64 - count) }
}
