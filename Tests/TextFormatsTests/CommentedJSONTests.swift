import Testing
import TextFormats

@Suite struct CommentedJSONTests {
  private static let strict = CommentedJSON.Dialect(nestingMax: 4, allowsControlCharacters: false, refusesDuplicateKeys: true)
  private static let lenient = CommentedJSON.Dialect(nestingMax: 4, allowsControlCharacters: true, refusesDuplicateKeys: false)

  @Test(
    "comments, trailing commas and every kind of value",
    arguments: [
      ("{}", "{}"), (" [ ] ", "[]"), ("// a\n{/* b */\"a\"://c\n1,}", "{a:1}"), ("[1,2,]", "[1,2]"),
      ("{\"a\":{\"b\":[true,false,null]}}", "{a:{b:[true,false,null]}}"), ("-12.5e+3", "-12.5e+3"), ("12abc", "12abc"),
      ("\"\\u0041\\ud83d\\ude00\\n\\/\\\\\"", "A😀\n/\\"), ("/**/1/***/", "1"), ("1 // end", "1"), ("1 //\r", "1"),
    ])
  func values(_ source: String, _ expected: String) throws {
    for dialect in [Self.strict, Self.lenient] {
      #expect(Self.shown(try CommentedJSON.parse(Array(source.utf8), as: dialect)) == expected)
    }
  }

  @Test(
    "faults, and where they are",
    arguments: [
      ("", .valueMissing, 1, 1), ("{\"a\":", .valueMissing, 1, 6), ("/", .unexpectedSlash, 1, 1),
      ("1 /* x", .commentNotClosed, 1, 3), ("[[[[[1]]]]]", .nestedTooDeeply, 1, 6), ("tru", .notAValue("tru"), 1, 1),
      ("[tru€]", .notAValue("tru€"), 1, 2), ("[=]", .notAValue(""), 1, 2), ("{1:2}", .expectedKey, 1, 2),
      ("{,}", .expectedKey, 1, 2), ("[,]", .notAValue(""), 1, 2), ("{\"a\" 1}", .expectedColon(key: "a"), 1, 6),
      ("{\"a\":1 \"b\":2}", .expectedSeparator(closing: "}"), 1, 8), ("[1 2]", .expectedSeparator(closing: "]"), 1, 4),
      ("{}\n {}", .trailingContent, 2, 2), ("\"a", .stringNotClosed, 1, 1), ("\"\\x\"", .unknownEscape, 1, 2),
      ("\"é\\u12g4\"", .badUnicodeEscape, 1, 3), ("\"\\ud800\"", .loneSurrogate, 1, 2), ("\"\\udc00\"", .loneSurrogate, 1, 2),
      ("\r\n\r  x", .notAValue("x"), 3, 3),
    ] as [(String, CommentedJSONError.Reason, Int, Int)])
  func faults(_ source: String, _ reason: CommentedJSONError.Reason, _ line: Int, _ column: Int) {
    for dialect in [Self.strict, Self.lenient] {
      #expect(throws: CommentedJSONError(reason: reason, position: .init(line: line, column: column))) {
        try CommentedJSON.parse(Array(source.utf8), as: dialect)
      }
    }
  }

  @Test("dialects differ in strings over lines and keys that occur twice")
  func dialects() throws {
    let twice = Array("{\"a\":1,\"a\":2}".utf8)
    #expect(Self.shown(try CommentedJSON.parse(twice, as: Self.lenient)) == "{a:1,a:2}")
    #expect(throws: CommentedJSONError(reason: .duplicateKey("a"), position: .init(line: 1, column: 8))) {
      try CommentedJSON.parse(twice, as: Self.strict)
    }
    let broken = Array("[\"a\nb\tc\"]".utf8)
    #expect(Self.shown(try CommentedJSON.parse(broken, as: Self.lenient)) == "[a\nb\tc]")
    #expect(throws: CommentedJSONError(reason: .stringNotClosed, position: .init(line: 1, column: 2))) {
      try CommentedJSON.parse(broken, as: Self.strict)
    }
    #expect(throws: CommentedJSONError(reason: .controlCharacter, position: .init(line: 1, column: 3))) {
      try CommentedJSON.parse(Array("\"a\tb\"".utf8), as: Self.strict)
    }
  }

  @Test("each part of a string knows its place in the file")
  func places() throws {
    let source = "  \"a\\u0042c\\n\\\"d\""
    guard case .string(let text) = try CommentedJSON.parse(Array(source.utf8), as: Self.strict).content else {
      Issue.record("not a string")
      return
    }
    #expect(text.text == "aBc\n\"d")
    #expect((0...6).map(text.source) == [3, 4, 10, 11, 13, 15, 16])
  }

  @Test("a byte order mark is taken off")
  func mark() {
    #expect(CommentedJSON.withoutByteOrderMark([0xEF, 0xBB, 0xBF, 0x31]) == [0x31])
    #expect(CommentedJSON.withoutByteOrderMark([0x31]) == [0x31])
  }

  private static func shown(_ value: CommentedJSON) -> String {
    switch value.content {
    case .null: "null"
    case .bool(let bool): "\(bool)"
    case .number(let text): text
    case .string(let text): text.text
    case .array(let elements): "[" + elements.map(shown).joined(separator: ",") + "]"
    case .object(let members): "{" + members.map { "\($0.key):\(shown($0.value))" }.joined(separator: ",") + "}"
    }
  }
}
