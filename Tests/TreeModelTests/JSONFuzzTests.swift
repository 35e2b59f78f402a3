import TestSupport
import Testing
import TreeModel

@Suite struct JSONFuzzTests {
  @Test("damaged text never breaks the parser, and what it accepts it prints back as the same value")
  func damaged() throws {
    var source = RandomTree(seed: 61)
    var accepted = 0
    for _ in 0..<2_000 {
      var writer = JSONWriter()
      writer.write(source.json(depthMax: 3))
      var bytes = writer.bytes
      for _ in 0..<source.pick([1, 1, 2, 4]) {
        let at = Int.random(in: 0..<bytes.count, using: &source.random)
        switch source.pick([0, 1, 2]) {
        case 0: bytes[at] = UInt8.random(in: 0...255, using: &source.random)
        case 1: bytes.insert(source.pick(Array("{}[]\",:\\u0e.-1".utf8)), at: at)
        default: if bytes.count > 1 { bytes.remove(at: at) }
        }
      }
      guard let json = try? JSONParser.parse(bytes) else { continue }
      accepted += 1
      var once = JSONWriter()
      once.write(json)
      var twice = JSONWriter()
      twice.write(try JSONParser.parse(once.bytes))
      #expect(once.bytes == twice.bytes)
    }
    #expect(accepted > 100 && accepted < 1_900)
  }

  @Test("text that is cut off is refused wherever it is cut")
  func truncated() throws {
    let whole = Array(#"{"a":[1.5e3,true,null,"\u00e9\ud83d\ude00é"],"b":{"c":-12}}"#.utf8)
    #expect(throws: Never.self) { try JSONParser.parse(whole) }
    for length in 0..<whole.count {
      #expect(throws: JSONError.self) { try JSONParser.parse(Array(whole[..<length])) }
    }
  }
}
