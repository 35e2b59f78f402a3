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
