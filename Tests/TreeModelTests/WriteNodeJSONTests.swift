import Testing
import TreeModel

@Suite struct WriteNodeJSONTests {
  @Test(
    "data is read by the rules of the tree",
    arguments: [
      (#"{"a":1,"a":2}"#, #"{"a":2}"#), (#"{"a":1,"a":null}"#, "null"), ("[1,null,3]", #"{"0":1,"2":3}"#),
      (#"{".value":5}"#, "5"), (#"{".value":5,".priority":1}"#, #"{".value":5,".priority":1}"#), (#"{".value":null}"#, "null"),
      (#"{".value":null,"a":1}"#, #"{"a":1}"#), (#"{".priority":1}"#, "null"), (#"{"a":1,".priority":null}"#, #"{"a":1}"#),
      (#"{"a":1,".priority":"x"}"#, #"{"a":1,".priority":"x"}"#), (#"{"a":{"b":{}}}"#, "null"),
      ("{\"\u{E9}\":1,\"e\u{301}\":2}", "{\"e\u{301}\":2,\"\u{E9}\":1}"),
    ])
  func reads(_ source: String, _ expected: String) throws {
    let write = try WriteNode(json: JSONParser.parse(source))
    #expect(write.slots.isEmpty)
    #expect(text(write.node.json(.export)) == expected)
  }

  @Test(
    "data that is not legal is refused with its place",
    arguments: [
      (#"{"a":{".value":1,"b":2}}"#, .valueBesideChildren, "/a"), (#"{".sv":"timestamp","b":2}"#, .valueBesideChildren, "/"),
      (#"{".value":{"a":1}}"#, .valueNotPrimitive, "/"), (#"{"a":{".value":[1]}}"#, .valueNotPrimitive, "/a"),
      (#"{"a":[{".sv":"now"}]}"#, .unknownServerValue, "/a/0"), (#"{".sv":{"increment":"1"}}"#, .unknownServerValue, "/"),
      (#"{".sv":{"increment":1,"x":2}}"#, .unknownServerValue, "/"), (#"{".sv":null}"#, .unknownServerValue, "/"),
      (#"{"a":1,".priority":true}"#, .illegalPriority, "/"), (#"{"a":1,".priority":{"x":1}}"#, .illegalPriority, "/"),
      (#"{"a":1,".priority":[1]}"#, .illegalPriority, "/"), (#"{".foo":1}"#, .path(PathError(.reservedKey, key: ".foo")), "/"),
      (#"{"a":{"b/c":1}}"#, .path(PathError(.forbiddenCharacter, key: "b/c")), "/a"),
      (#"{"":1}"#, .path(PathError(.emptyKey, key: "")), "/"),
      (#"{"a.b":1}"#, .path(PathError(.forbiddenCharacter, key: "a.b")), "/"),
    ] as [(String, WriteDataError.Code, Path)])
  func refuses(_ source: String, _ code: WriteDataError.Code, _ place: Path) throws {
    let json = try JSONParser.parse(source)
    let error = thrown(WriteDataError.self) { _ = try WriteNode(json: json) }
    #expect(error == WriteDataError(code, at: place))
    #expect(error?.description.hasPrefix("Invalid ") == true)
  }

  @Test("a key of 769 bytes, a string over 10 MB and an infinity are refused")
  func sizes() throws {
    let key = String(repeating: "k", count: 769)
    let long = thrown(WriteDataError.self) { _ = try WriteNode(json: .object([.init(key: key, value: 1)])) }
    guard case .path(let error) = long?.code else { return #expect(Bool(false), "no path error") }
    #expect(error.code == .keyTooLong)
    let longest = String(repeating: "s", count: WriteNode.stringBytesMax)
    #expect(throws: Never.self) { try WriteNode(json: .string(longest)) }
    #expect(thrown(WriteDataError.self) { _ = try WriteNode(json: .string(longest + "s")) }?.code == .stringTooLong)
    #expect(thrown(WriteDataError.self) { _ = try WriteNode(json: .double(.infinity)) }?.code == .numberNotFinite)
  }

  @Test("data may reach 32 levels below the root, wherever it is written", arguments: [0, 1, 20, 31, 32])
  func depth(_ base: Int) throws {
    func nested(_ levels: Int) -> JSON {
      (0..<levels).reduce(JSON.int(1)) { inner, _ in ["k": inner] }
    }
    #expect(throws: Never.self) { try WriteNode(json: nested(32 - base), depth: base) }
    let error = thrown(WriteDataError.self) { _ = try WriteNode(json: nested(33 - base), depth: base) }
    guard case .path(let reason) = error?.code else { return #expect(Bool(false), "no path error") }
    #expect(reason.code == .tooDeep)
  }

  @Test("server values are found wherever they may stand")
  func serverValues() throws {
    let source = """
      {"a":{".sv":"timestamp"},"b":{".value":{".sv":{"increment":2}},".priority":{".sv":"timestamp"}},
       "c":[{".sv":{"increment":0.5}}],".priority":{".sv":{"increment":1}},"d":{".priority":{".sv":"timestamp"}}}
      """
    let write = try WriteNode(json: JSONParser.parse(source))
    #expect(write.slots.count == 5)
    let resolved = write.resolved(now: 99) { slot in slot.path == "/b" ? .int(40) : nil }
    let expected = #"{"a":99,"b":{".value":42,".priority":99},"c":{"0":0.5},".priority":1}"#
    #expect(text(resolved.json(.export)) == expected)
  }

  @Test(
    "a server value under a repeated name counts only if its member is the last",
    arguments: [
      (#"{"a":{".sv":"timestamp"},"a":5}"#, #"{"a":5}"#), (#"{"a":5,"a":{".sv":"timestamp"}}"#, #"{"a":7}"#),
      (#"{"a":{"x":{".sv":"timestamp"}},"b":{".sv":"timestamp"},"a":{"y":1}}"#, #"{"a":{"y":1},"b":7}"#),
      (#"{"a":{".sv":"timestamp"},"a":{".sv":{"increment":3}}}"#, #"{"a":3}"#),
    ])
  func repeatedServerValues(_ source: String, _ expected: String) throws {
    let write = try WriteNode(json: JSONParser.parse(source))
    #expect(text(write.resolved(now: 7) { _ in nil }.json()) == expected)
  }

  @Test("a timestamp is one instant for the whole operation")
  func timestamp() throws {
    let write = try WriteNode(json: JSONParser.parse(#"{"a":{".sv":"timestamp"},"b":{".sv":"timestamp"}}"#))
    let node = write.resolved(now: 1_700_000_000_000) { _ in nil }
    #expect(node == ["a": 1_700_000_000_000, "b": 1_700_000_000_000])
  }

  @Test(
    "an increment adds integers exactly and falls back to doubles",
    arguments: [
      (nil, 5, 5), (.int(2), 5, 7), (.number(1), .double(1.5), .double(2.5)), ("text", 5, 5), (true, 5, 5),
      (.int(.max), 1, .double(9_223_372_036_854_775_808)), (.int(.max), -1, .int(.max - 1)), (.double(0.5), .double(0.5), 1),
      (.double(1e308), .double(1e308), .double(.greatestFiniteMagnitude)),
      (.int(9_007_199_254_740_992), 1, 9_007_199_254_740_993),
    ] as [(Scalar?, Scalar, Scalar)])
  func increment(_ base: Scalar?, _ delta: Scalar, _ sum: Scalar) {
    #expect(ServerValue.increment(delta).resolved(now: 0, current: base) == sum)
  }

  @Test("imported data holds no server values")
  func importing() throws {
    let json = try JSONParser.parse(#"{"a":{"b":{".sv":"timestamp"}}}"#)
    #expect(thrown { _ = try TreeNode(json: json) } == WriteDataError(.serverValueNotAllowed, at: "/a/b"))
  }
}

@Suite struct WriteOperationJSONTests {
  @Test("an update's names are paths, deep ones and priorities too")
  func update() throws {
    let json = try JSONParser.parse(#"{"b/c":1,"a":null,"d/.priority":"p","b/d":{"e":2},".priority":3}"#)
    let operation = try WriteOperation.update("/x", json: json)
    #expect(operation.kind == .update)
    #expect(
      operation.assignments == [
        .init(path: "/x", value: .priority(.scalar(3))),
        .init(path: "/x/a", value: .node(.absent)),
        .init(path: "/x/b/c", value: .node(WriteNode(1))),
        .init(path: "/x/b/d", value: .node(WriteNode(["e": 2]))),
        .init(path: "/x/d", value: .priority(.scalar("p"))),
      ])
  }

  @Test(
    "an update whose paths lie inside each other is refused",
    arguments: [
      #"{"a":1,"a/b":2}"#, #"{"a/b/c":1,"a":2}"#, #"{"a":1,"/a":2}"#, #"{"a":1,"a/.priority":2}"#, #"{"a":null,"a/b":null}"#,
    ])
  func overlap(_ source: String) throws {
    let json = try JSONParser.parse(source)
    let error = thrown(WriteDataError.self) { _ = try WriteOperation.update("/x", json: json) }
    guard case .overlap = error?.code else { return #expect(Bool(false), "\(String(describing: error))") }
  }

  @Test(
    "names that only share a beginning do not overlap; of one name twice the last counts",
    arguments: [
      (#"{"a":1,"ab":2}"#, 2), (#"{"a/b":1,"a/c":2}"#, 2), (#"{"a/.priority":1,"a/b":2}"#, 2), (#"{"a":1,"a":2}"#, 1),
      (#"{"1":1,"01":2}"#, 2), ("{}", 0),
    ])
  func siblings(_ source: String, _ count: Int) throws {
    #expect(try WriteOperation.update("/", json: JSONParser.parse(source)).assignments.count == count)
  }

  @Test(
    "an update with a bad name or body is refused",
    arguments: [
      "5", "[1]", "null", #""x""#, #"{"":1}"#, #"{"/":1}"#, #"{"a.b":1}"#, #"{"a/.priority/b":1}"#, #"{"a/.value":1}"#,
      #"{"a/.priority":true}"#, #"{"a":{".foo":1}}"#,
    ])
  func refuses(_ source: String) throws {
    let json = try JSONParser.parse(source)
    #expect(throws: WriteDataError.self) { try WriteOperation.update("/x", json: json) }
  }

  @Test("an update's depth counts from the root")
  func depth() throws {
    let base = Path(keys: Array(repeating: Key(unchecked: "k"), count: 30))
    #expect(throws: Never.self) { try WriteOperation.update(base, json: ["a/b": 1]) }
    #expect(throws: WriteDataError.self) { try WriteOperation.update(base, json: ["a/b/c": 1]) }
    #expect(throws: WriteDataError.self) { try WriteOperation.update(base, json: ["a/b": ["c": 1]]) }
  }

  @Test("a set writes a node or a priority")
  func set() throws {
    let node = try WriteOperation.set(PathTarget(parsing: "/a/b"), json: ["c": 1])
    #expect(node == .set("/a/b", TreeNode(dictionaryLiteral: ("c", 1))))
    let priority = try WriteOperation.set(PathTarget(parsing: "/a/.priority"), json: [".sv": "timestamp"])
    #expect(priority == .setPriority("/a", priority: .server(.timestamp)))
    #expect(
      try WriteOperation.set(PathTarget(parsing: "/a/.priority"), json: nil) == .setPriority("/a", priority: .scalar(nil)))
    #expect(throws: WriteDataError.self) { try WriteOperation.set(PathTarget(parsing: "/a/.priority"), json: false) }
  }

  @Test("leaves, priorities, deletions and bytes are counted while data is read, over all the paths of an update")
  func bounds() throws {
    for (text, leaves, bytes) in [
      ("[0,0,0]", 3, 3 * (2 + 8 + 8)), (#"{"a":{"b":"xyz"}}"#, 1, 2 + 2 + 2 + 3),
      (#"{".value":1,".priority":2}"#, 2, 2 * (2 + 8)),
      (#"{".sv":"timestamp"}"#, 1, 2 + 8), ("null", 1, 2), ("[]", 1, 2),
    ] {
      let json = try JSONParser.parse(text)
      let target = PathTarget(path: "p")
      _ = try WriteOperation.set(target, json: json, bounds: WriteBounds(leavesMax: leaves, bytesMax: bytes))
      for less in [WriteBounds(leavesMax: leaves - 1, bytesMax: bytes), WriteBounds(leavesMax: leaves, bytesMax: bytes - 1)] {
        let error = #expect(throws: WriteDataError.self) { try WriteOperation.set(target, json: json, bounds: less) }
        #expect(error?.code == .tooLarge, "\(text)")
      }
    }
    let update = try JSONParser.parse(#"{"a":1,"b":null,"c/.priority":null,"d":[1,2]}"#)
    _ = try WriteOperation.update("p", json: update, bounds: WriteBounds(leavesMax: 5, bytesMax: 1000))
    #expect(throws: WriteDataError(.tooLarge)) {
      try WriteOperation.update("p", json: update, bounds: WriteBounds(leavesMax: 4, bytesMax: 1000))
    }
    #expect(throws: WriteDataError(.tooLarge)) {
      try WriteOperation.update("p", json: update, bounds: WriteBounds(leavesMax: 5, bytesMax: 40))
    }
  }

  @Test("more values of JSON than are wanted are not even parsed")
  func values() throws {
    _ = try JSONParser.parse(Array("[1,[2],{\"a\":3}]".utf8), valuesMax: 6)
    let error = #expect(throws: JSONError.self) { try JSONParser.parse(Array("[1,[2],{\"a\":3}]".utf8), valuesMax: 5) }
    #expect(error?.reason == .tooManyValues)
  }
}
