import TestSupport
import Testing
import TreeModel

@Suite struct PathPatternTests {
  @Test(
    "a pattern matches and captures",
    arguments: [
      ("/users/{uid}/level", "/users/bob/level", ["uid=bob"]), ("users//{uid}/", "/users/bob", ["uid=bob"]),
      ("/{a}/{b}", "/x/y", ["a=x", "b=y"]), ("/*/b", "/x/b", []), ("/{n=*}", "/x", ["n=x"]), ("/", "/", []),
      ("/{p=**}", "/a/b/c", ["p=a/b/c"]), ("/{p=**}", "/a", ["p=a"]), ("/a/**/z/{last}", "/a/b/c/z/q", ["last=q"]),
      ("/{first}/{rest=**}/{last}", "/a/b/c/d", ["first=a", "rest=b/c", "last=d"]), ("/a/**", "/a/b/c", []),
      ("/{x}", "/a%20b", ["x=a%20b"]), ("/{x}", "/ключ 😀", ["x=ключ 😀"]), ("/é/{x}", "/é/e\u{301}", ["x=e\u{301}"]),
    ])
  func matches(_ pattern: String, _ path: String, _ captures: [String]) throws {
    let found = try PathPattern(parsing: pattern).match(Path(parsing: path))
    #expect(found?.map { "\($0.name)=\($0.value)" } == captures)
  }

  @Test(
    "a path that is too short, too long or different does not match",
    arguments: [
      ("/users/{uid}/level", "/users/bob"), ("/users/{uid}/level", "/users/bob/level/x"), ("/users/{uid}/level", "/bob/level"),
      ("/users/{uid}", "/user/bob"), ("/{a}", "/"), ("/**", "/"), ("/a/**", "/a"), ("/a/**/z", "/a/z"), ("/a/**/z", "/a/b"),
      ("/é", "/e\u{301}"), ("/1", "/01"), ("/", "/a"), ("/{x}/**/{y}", "/a/b"),
    ])
  func misses(_ pattern: String, _ path: String) throws {
    #expect(try PathPattern(parsing: pattern).match(Path(parsing: path)) == nil)
  }

  @Test(
    "a pattern that is not legal is refused",
    arguments: [
      ("/{a}/x/{a}", .duplicateName, "{a}"), ("/{a}/{a=**}", .duplicateName, "{a=**}"), ("/a-{x}", .partialSegment, "a-{x}"),
      ("/{x}-a", .partialSegment, "{x}-a"), ("/{x}{y}", .partialSegment, "{x}{y}"), ("/{x", .partialSegment, "{x"),
      ("/x}", .partialSegment, "x}"), ("/a*", .partialSegment, "a*"), ("/***", .partialSegment, "***"),
      ("/{", .partialSegment, "{"),
      ("/**/a/**", .severalMultiSegments, "**"), ("/{a=**}/{b=**}", .severalMultiSegments, "{b=**}"),
      ("/{}", .emptyName, "{}"), ("/{=**}", .emptyName, "{=**}"), ("/{a=b}", .unknownForm, "{a=b}"),
      ("/{a=}", .unknownForm, "{a=}"), ("/a.b", .path(PathError(.forbiddenCharacter, key: "a.b")), "a.b"),
      ("/$x", .path(PathError(.forbiddenCharacter, key: "$x")), "$x"),
    ] as [(String, PatternError.Code, String)])
  func refuses(_ text: String, _ code: PatternError.Code, _ segment: String) {
    let error = thrown { _ = try PathPattern(parsing: text) } as PatternError?
    #expect(error == PatternError(code, segment: segment))
    #expect(error?.description.hasPrefix("Invalid pattern: ") == true)
  }

  @Test(
    "a pattern prints in its shortest spelling, which reads back as the same pattern",
    arguments: [
      ("users//{uid=*}/", "/users/{uid}"), ("/a/{p=**}", "/a/{p=**}"), ("*/**", "/*/**"), ("", "/"),
    ])
  func description(_ text: String, _ expected: String) throws {
    let pattern = try PathPattern(parsing: text)
    #expect(pattern.description == expected)
    #expect(try PathPattern(parsing: expected) == pattern)
  }

  @Test("captures are found by name, in the pattern's order")
  func captures() throws {
    let pattern: PathPattern = "/{b}/x/{a}"
    #expect(pattern.captureNames == ["b", "a"])
    let captures = try #require(pattern.match("/1/x/2"))
    #expect(captures["a"] == "2" && captures["b"] == "1" && captures["c"] == nil)
    #expect(captures.map(\.name) == ["b", "a"])
  }
}

@Suite struct PathTrieTests {
  @Test("a path finds the patterns of every prefix")
  func prefixes() {
    var trie = PathTrie()
    #expect(trie.isEmpty)
    let patterns: [PathPattern] = [
      "/", "/users/{uid}", "/users/bob", "/users/{uid}/level", "/users/*/x", "/users/**", "/a/**/z", "/7/{x}",
    ]
    for (position, pattern) in patterns.enumerated() { trie.insert(pattern, position) }
    #expect(!trie.isEmpty)
    func found(_ path: Path) -> [String] { Self.found(trie, path).map { "\($0.depth) \(patterns[$0.position])" }.sorted() }
    #expect(
      found("/users/bob/level") == ["0 /", "2 /users/bob", "2 /users/{uid}", "3 /users/**", "3 /users/{uid}/level"])
    #expect(found("/users") == ["0 /"])
    #expect(found("/a/z/z/b/z/c") == ["0 /", "3 /a/**/z", "5 /a/**/z"])
    #expect(found("/7/-3") == ["0 /", "2 /7/{x}"])
  }

  @Test("equal patterns keep all their values")
  func several() {
    var trie = PathTrie()
    trie.insert("/a/{x}", 1)
    trie.insert("/a/{y}", 2)
    #expect(Self.found(trie, "/a/b").map(\.position).sorted() == [1, 2])
  }

  @Test("a trie finds what matching pattern by pattern finds")
  func naive() throws {
    var source = RandomTree(seed: 51)
    // Letters that are raised in binary form, and keys that are nearly numbers.
    let segments = ["a", "é", "\u{E000}", "\u{FFFD}", "0", "00", "-1", "{n}", "*", "**", "{m=**}"]
    var patterns: [PathPattern] = []
    while patterns.count < 200 {
      let text = (0..<source.pick([0, 1, 2, 3, 4])).map { _ in source.pick(segments) }.joined(separator: "/")
      if let pattern = try? PathPattern(parsing: text) { patterns.append(pattern) }
    }
    var trie = PathTrie()
    for (index, pattern) in patterns.enumerated() { trie.insert(pattern, index) }
    for _ in 0..<300 {
      let length = source.pick([0, 1, 2, 3, 4, 5])
      let keys = ["a", "é", "\u{E000}", "\u{FFFD}", "0", "00", "-1", "c"]
      let path = Path(keys: (0..<length).map { _ in Key(unchecked: source.pick(keys)) })
      let calls = Self.found(trie, path).map { [$0.depth, $0.position] }
      let found = Set(calls)
      #expect(calls.count == found.count)
      #expect(found == Self.naive(patterns, path))
    }
  }

  private static func naive(_ patterns: [PathPattern], _ path: Path) -> Set<[Int]> {
    var found: Set<[Int]> = []
    for depth in 0...path.depth {
      let prefix = Path(keys: Array(path.keys[..<depth]))
      for (index, pattern) in patterns.enumerated() where pattern.match(prefix) != nil {
        if case .multi = pattern.segments.last, depth < path.depth { continue }
        found.insert([depth, index])
      }
    }
    return found
  }

  private static func found(_ trie: PathTrie, _ path: Path) -> [(depth: Int, position: Int)] {
    let place = PathBytes(path)
    var found: [(depth: Int, position: Int)] = []
    trie.forEachPrefixMatch(of: place) { found.append((place.prefix($0).keyEnds.count, $1)) }
    return found
  }
}
