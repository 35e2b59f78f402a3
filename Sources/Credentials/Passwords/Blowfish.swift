/// The block cipher Blowfish with the expensive key schedule of bcrypt (Provos and Mazières, "A Future-Adaptable Password
/// Scheme", 1999). Only what bcrypt needs: keys are mixed in, blocks of two words are encrypted.
struct Blowfish: ~Copyable {
  /// 18 subkeys, then four boxes of 256 words.
  private let state: UnsafeMutablePointer<UInt32>
  private static let count = 18 + 4 * 256

  init() {
    state = .allocate(capacity: Self.count)
    state.initialize(from: PiDigits.words, count: Self.count)
  }

  deinit {
    state.update(repeating: 0, count: Self.count)
    state.deallocate()
  }

  @inline(__always)
  private borrowing func mixed(_ x: UInt32) -> UInt32 {
    let a = state[18 &+ Int(x >> 24)]
    let b = state[274 &+ Int(x >> 16 & 255)]
    let c = state[530 &+ Int(x >> 8 & 255)]
    let d = state[786 &+ Int(x & 255)]
    return ((a &+ b) ^ c) &+ d
  }

  /// One block.
  borrowing func encrypt(_ left: inout UInt32, _ right: inout UInt32) {
    var a = left ^ state[0]
    var b = right
    var round = 1
    while round < 17 {
      b ^= mixed(a) ^ state[round]
      a ^= mixed(b) ^ state[round &+ 1]
      round &+= 2
    }
    left = b ^ state[17]
    right = a
  }

  /// Mixes a key, and the salt, into the state.
  ///
  /// - Parameters:
  ///   - key: 18 words.
  ///   - salt: four words; zeros for the plain schedule.
  mutating func expand(key: [UInt32], salt: [UInt32]) {
    for index in 0..<18 { state[index] ^= key[index] }
    var left: UInt32 = 0
    var right: UInt32 = 0
    var at = 0
    while at < Self.count {
      left ^= salt[at & 2]
      right ^= salt[(at & 2) &+ 1]
      encrypt(&left, &right)
      state[at] = left
      state[at &+ 1] = right
      at &+= 2
    }
  }
}
