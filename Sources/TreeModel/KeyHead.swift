/// The beginning of a key, in a form that is compared at once: of two keys whose heads differ, the one with the smaller head
/// comes first. Of equal heads nothing is known.
struct KeyHead: Comparable {
  /// Integers come before everything else.
  private let isText: Bool
  /// An integer's value, moved so that none is negative; of a text the first eight bytes, in the order of its UTF-16 units.
  private let value: UInt64

  init(_ key: Key) {
    if let integer = key.integer {
      isText = false
      value = UInt64(Int64(integer) - Int64(Int32.min))
      return
    }
    isText = true
    var text = key.text
    value = text.withUTF8 { bytes in
      var head: UInt64 = 0
      for index in 0..<8 {
        let byte = index < bytes.count ? bytes[index] : 0
        head = head << 8 | UInt64(byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte)
      }
      return head
    }
  }

  static func < (a: KeyHead, b: KeyHead) -> Bool {
    a.isText == b.isText ? a.value < b.value : b.isText
  }
}
