import TestSupport
import Testing
import TreeModel

@Suite struct JSONTests {
  @Test(
    "legal JSON is read exactly",
    arguments: [
      ("null", nil), (" true\n", true), ("-0", 0), ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
      ("9223372036854775808", .double(9_223_372_036_854_775_808)), ("9007199254740993", 9_007_199_254_740_993),
      ("1.0", 1.0), ("1e308", 1e308), ("1E+2", 100.0), ("-2.5e-3", -0.0025), ("1e-400", 0.0),
      ("123456789012345678901234567890", .double(123456789012345678901234567890.0)),
      (#""""#, ""), (#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#, "\"\\/\u{8}\u{C}\n\r\té😀"), ("\"é😀\"", "é😀"),
      ("[]", []), ("[1,[2],{}]", [1, [2], [:]]), (#"{"a":1,"b":{"c":null}}"#, ["a": 1, "b": ["c": nil]]),
    ] as [(String, JSON)])
  func reads(_ source: String, _ value: JSON) throws {
    #expect(try JSONParser.parse(source) == value)
  }

  @Test(
    "what is not JSON is refused, with place and reason",
    arguments: [
      ("", 0, .empty), ("  ", 2, .empty), ("tru", 3, .unexpectedEnd), ("trux", 3, .unexpectedCharacter),
      ("nul", 3, .unexpectedEnd),
      ("1 2", 2, .trailingBytes), ("01", 1, .badNumber), ("-", 1, .unexpectedEnd), ("-a", 1, .badNumber), ("1.", 2, .badNumber),
      ("1e", 2, .badNumber), ("+1", 0, .unexpectedCharacter), (".5", 0, .unexpectedCharacter), ("1e309", 0, .numberOutOfRange),
      ("NaN", 0, .unexpectedCharacter), ("[1,]", 3, .unexpectedCharacter), ("[1", 2, .unexpectedEnd),
      ("[1 2]", 3, .unexpectedCharacter),
      ("{\"a\":1,}", 7, .unexpectedCharacter), ("{a:1}", 1, .unexpectedCharacter), ("{\"a\" 1}", 5, .unexpectedCharacter),
      ("{\"a\":", 5, .unexpectedEnd), ("'a'", 0, .unexpectedCharacter), ("\"a", 2, .unexpectedEnd),
      ("\"\n\"", 1, .controlCharacter),
      ("\"\\x\"", 2, .badEscape), ("\"\\u12g4\"", 5, .badEscape), ("\"\\ud800\"", 7, .loneSurrogate),
      ("\"\\ud800\\u0041\"", 13, .loneSurrogate), ("\"\\udc00\"", 7, .loneSurrogate), ("//\n1", 0, .unexpectedCharacter),
    ] as [(String, Int, JSONError.Reason)])
  func refuses(_ source: String, _ offset: Int, _ reason: JSONError.Reason) {
    let error = thrown(JSONError.self) { _ = try JSONParser.parse(source) }
    #expect(error == JSONError(offset: offset, reason: reason))
  }

  @Test(
    "bytes that are not UTF-8 are refused, also beside escapes",
    arguments: [
      [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0x5C, 0x6E, 0xC3, 0x22],
      [0x22, 0xF5, 0x80, 0x80, 0x80, 0x22],
    ] as [[UInt8]])
  func utf8(_ bytes: [UInt8]) {
    #expect(thrown(JSONError.self) { _ = try JSONParser.parse(bytes) }?.reason == .invalidUTF8)
  }

  @Test("nesting is bounded, and the bound itself is allowed")
  func depth() throws {
    let deep = { (n: Int) in String(repeating: "[", count: n) + String(repeating: "]", count: n) }
    #expect(throws: Never.self) { try JSONParser.parse(deep(64)) }
    #expect(thrown(JSONError.self) { _ = try JSONParser.parse(deep(65)) }?.reason == .tooDeep)
    #expect(thrown(JSONError.self) { _ = try JSONParser.parse(deep(100_000)) }?.reason == .tooDeep)
    #expect(throws: Never.self) { try JSONParser.parse("[[],[],[]]", depthMax: 2) }
  }

  @Test("two spellings of one name are two members; of one name twice the last is found")
  func members() throws {
    let json = try JSONParser.parse("{\"\u{E9}\":1,\"e\u{301}\":2,\"a\":3,\"a\":4}")
    #expect(json["\u{E9}"] == 1)
    #expect(json["e\u{301}"] == 2)
    #expect(json["a"] == 4)
    #expect(json["b"] == nil)
    #expect(json.object?.count == 4)
  }

  @Test("accessors do not mix kinds; an integral double is an integer")
  func accessors() {
    #expect(JSON.double(5).int == 5)
    #expect(JSON.double(5.5).int == nil)
    #expect(JSON.bool(true).int == nil)
    #expect(JSON.int(1).bool == nil)
    #expect(JSON.int(1).double == 1)
    #expect(JSON.string("1").int == nil && JSON.string("1").string == "1")
  }

  @Test("any value comes back from its text, plain and pretty")
  func roundTrip() throws {
    var source = RandomTree(seed: 11)
    for _ in 0..<500 {
      let json = source.json(depthMax: 4)
      for pretty in [false, true] {
        var writer = JSONWriter(pretty: pretty)
        writer.write(json)
        let back = try JSONParser.parse(writer.bytes)
        #expect(normal(back) == normal(json))
      }
    }
  }

  /// Doubles without fraction are printed as integers.
  private func normal(_ json: JSON) -> JSON {
    switch json {
    case .double(let value): Int64(exactly: value).map(JSON.int) ?? json
    case .array(let elements): .array(elements.map(normal))
    case .object(let members): .object(members.map { JSON.Member(key: $0.key, value: normal($0.value)) })
    default: json
    }
  }

  @Test("pretty text has two spaces a level and empty containers closed")
  func pretty() {
    var writer = JSONWriter(pretty: true)
    writer.write(["a": [1, [:], []], "b": ["c": true]])
    let lines = [
      "{", "  \"a\": [", "    1,", "    {},", "    []", "  ],", "  \"b\": {", "    \"c\": true", "  }", "}",
    ]
    #expect(text(writer.bytes) == lines.joined(separator: "\n"))
  }

  @Test("control characters are escaped as JavaScript does, the rest stays")
  func escapes() {
    var writer = JSONWriter()
    writer.string("\u{0}\u{8}\t\n\u{C}\r\u{1F}\"\\/\u{7F}é😀")
    #expect(text(writer.bytes) == #""\u0000\b\t\n\f\r\u001f\"\\/"# + "\u{7F}é😀\"")
  }
}

@Suite struct NumberPrintingTests {
  // Printed by Node's JSON.stringify.
  @Test(
    "doubles print as JavaScript prints them",
    arguments: [
      (1e21, "1e+21"), (1e20, "100000000000000000000"), (123456789012345680, "123456789012345680"), (1.5e-7, "1.5e-7"),
      (1e-6, "0.000001"), (0.000001234, "0.000001234"), (1e-7, "1e-7"), (1e300, "1e+300"), (.leastNonzeroMagnitude, "5e-324"),
      (1.7976931348623157e308, "1.7976931348623157e+308"), (0.1, "0.1"), (100, "100"), (123.456, "123.456"), (-2.5, "-2.5"),
      (1e22, "1e+22"), (1.2345e21, "1.2345e+21"), (4.35, "4.35"), (9_007_199_254_740_992, "9007199254740992"),
      (9_223_372_036_854_775_808, "9223372036854776000"), (1.0 / 3, "0.3333333333333333"), (1e16, "10000000000000000"),
      (12345678901234567168, "12345678901234567000"), (-1.25e-9, "-1.25e-9"), (-0.0, "0"), (1, "1"), (.infinity, "null"),
    ] as [(Double, String)])
  func doubles(_ value: Double, _ expected: String) {
    var writer = JSONWriter()
    writer.double(value)
    #expect(text(writer.bytes) == expected)
  }

  @Test(
    "integers print all their digits",
    arguments: [
      (Int64.max, "9223372036854775807"), (.min, "-9223372036854775808"), (0, "0"), (-7, "-7"),
      (9_007_199_254_740_993, "9007199254740993"),
    ])
  func integers(_ value: Int64, _ expected: String) {
    var writer = JSONWriter()
    writer.int(value)
    #expect(text(writer.bytes) == expected)
  }

  @Test("every double comes back from its text")
  func roundTrip() throws {
    var random = SplitMix64(seed: 12)
    for _ in 0..<3_000 {
      let value = Double(bitPattern: random.next())
      guard value.isFinite else { continue }
      var writer = JSONWriter()
      writer.double(value)
      #expect(try JSONParser.parse(writer.bytes).double == value)
    }
  }
}

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
