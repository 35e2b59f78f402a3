import TestSupport
import Testing
import TreeModel

@Suite struct KeyTests {
  @Test(
    "a key that holds a forbidden character is refused", arguments: [".", "$", "#", "[", "]", "/", "\u{0}", "\u{1F}", "\u{7F}"])
  func forbidden(_ character: String) {
    let error = thrown(PathError.self) { _ = try Key("a" + character + "b") }
    #expect(error?.code == .forbiddenCharacter)
  }

  @Test("a key may be 768 bytes long and not 769, counted in UTF-8", arguments: [("k", 768), ("é", 384), ("😀", 192)])
  func length(_ character: String, _ count: Int) throws {
    let longest = String(repeating: character, count: count)
    #expect(try Key(longest).text.utf8.count == 768)
    #expect(thrown(PathError.self) { _ = try Key(longest + "x") }?.code == .keyTooLong)
    #expect(thrown(PathError.self) { _ = try Key("") }?.code == .emptyKey)
  }

  @Test("an NFC and an NFD spelling are two keys")
  func spellings() {
    let composed = Key(unchecked: "\u{E9}")
    let decomposed = Key(unchecked: "e\u{301}")
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect(decomposed < composed)
  }

  @Test(
    "a key that is an int32 counts as a number, with any leading zeros",
    arguments: [
      ("0", 0), ("-0", 0), ("00", 0), ("-1", -1), ("007", 7), ("2147483647", .max), ("-2147483648", .min),
      ("2147483648", nil), ("-2147483649", nil), ("", nil), ("-", nil), ("1a", nil), ("+1", nil), (" 1", nil), ("1.5", nil),
    ] as [(String, Int32?)])
  func integers(_ text: String, _ value: Int32?) {
    #expect(Key(unchecked: text).integer == value)
  }

  @Test("keys sort integers first by value, shorter spelling first, then by UTF-16 code units")
  func order() {
    let ordered = [
      "-2147483648", "-1", "-0", "00", "1", "01", "001", "2", "10", "2147483647", "-", "2147483648", "a", "b", "e\u{301}", "é",
      "😀", "\u{E000}", "\u{FFFD}",
    ].map { Key(unchecked: $0) }
    for (i, a) in ordered.enumerated() {
      for (j, b) in ordered.enumerated() { #expect((a < b) == (i < j), "\(a) \(b)") }
    }
  }

  @Test("the order of other keys is that of their UTF-16 code units")
  func utf16() {
    var source = RandomTree(seed: 7)
    for _ in 0..<500 {
      let a = (0..<3).map { _ in source.pick(RandomTree.keys) }.joined()
      let b = (0..<3).map { _ in source.pick(RandomTree.keys) }.joined()
      let (x, y) = (Key(unchecked: a), Key(unchecked: b))
      guard x.integer == nil, y.integer == nil else { continue }
      #expect((x < y) == a.utf16.lexicographicallyPrecedes(b.utf16))
    }
  }
}

@Suite struct PathTests {
  @Test("superfluous slashes do not matter", arguments: ["a/b", "/a/b", "a/b/", "//a///b//"])
  func slashes(_ text: String) throws {
    #expect(try Path(parsing: text) == Path(keys: [Key("a"), Key("b")]))
  }

  @Test("a path is at most 32 levels deep")
  func depth() throws {
    let deepest = Array(repeating: "k", count: 32).joined(separator: "/")
    #expect(try Path(parsing: deepest).depth == 32)
    #expect(thrown(PathError.self) { _ = try Path(parsing: deepest + "/k") }?.code == .tooDeep)
    #expect(thrown(PathError.self) { _ = try PathTarget(parsing: deepest + "/k") }?.code == .tooDeep)
  }

  @Test("a path contains itself and what lies below it")
  func contains() {
    let path: Path = "/a/b"
    #expect(path.contains("/a/b"))
    #expect(path.contains("/a/b/c"))
    #expect(!path.contains("/a"))
    #expect(!path.contains("/a/bc"))
    #expect(Path.root.contains(path))
    #expect(path.parent == "/a" && Path.root.parent == nil)
  }

  @Test(
    "a target's last segment may be .priority",
    arguments: [
      ("/a/.priority", "/a", true), (".priority", "/", true), ("/a/b/", "/a/b", false), ("", "/", false),
    ])
  func target(_ text: String, _ path: String, _ isPriority: Bool) throws {
    let target = try PathTarget(parsing: text)
    #expect(target.path.description == path)
    #expect(target.isPriority == isPriority)
  }

  @Test(
    ".priority in the middle and other dot names are refused",
    arguments: ["/.priority/a", "/a/.value", "a/.sv", ".priority/.priority"])
  func badTarget(_ text: String) {
    #expect(throws: PathError.self) { try PathTarget(parsing: text) }
  }

  @Test("A map sorts its children as keys compare, whatever their beginnings; of a repeated key the last counts")
  func maps() {
    var random = SplitMix64(seed: 11)
    let pieces = [
      "", "a", "aaaaaaaa", "aaaaaaab", "0", "7", "-7", "-0", "00", "2147483647", "2147483648", "é", "\u{E000}", "😀", "~",
    ]
    for _ in 0..<300 {
      let keys = (0..<Int.random(in: 0...30, using: &random)).map { _ in
        Key(unchecked: (0..<3).map { _ in pieces.randomElement(using: &random) ?? "" }.joined())
      }
      let entries = keys.enumerated().map { TreeMap.Entry(key: $0.element, node: .leaf(.int(Int64($0.offset)))) }
      var model: [TreeMap.Entry] = []
      for entry in entries {
        model.removeAll { $0.key == entry.key }
        model.insert(entry, at: model.firstIndex { entry.key < $0.key } ?? model.count)
      }
      #expect(Array(TreeMap(entries)) == model)
    }
  }
}
