import Testing
import TextFormats

@Suite struct HexTests {
  @Test(
    "bytes become digits and come back",
    arguments: [([], ""), ([0], "00"), ([0x0F, 0xA0, 0xFF], "0fa0ff"), ([0xDE, 0xAD, 0xBE, 0xEF], "deadbeef")]
      as [([UInt8], String)])
  func roundTrip(_ bytes: [UInt8], _ text: String) {
    #expect(Hex.encode(bytes) == text)
    #expect(Hex.encode(bytes, uppercase: true) == text.uppercased())
    #expect(Hex.decode(text) == bytes && Hex.decode(text.uppercased()) == bytes)
  }

  @Test("what is not pairs of digits is refused", arguments: ["0", "0g", "g0", "+1", " 1", "0x", "é", "00 "])
  func refused(_ text: String) {
    #expect(Hex.decode(text) == nil)
  }

  @Test("every digit has its value")
  func digits() {
    for value in UInt8(0)..<16 {
      #expect(Hex.value(of: Hex.digit(value)) == value && Hex.value(of: Hex.digit(value, uppercase: true)) == value)
    }
    #expect((UInt8.min ... .max).count { Hex.value(of: $0) != nil } == 22)
  }
}
