import TestSupport
import Testing
import TreeModel

@Suite struct TreeNodeJSONTests {
  @Test(
    "a map of mostly filled indices prints as an array",
    arguments: [
      (#"{"0":1,"1":2,"2":3}"#, "[1,2,3]"), (#"{"0":1,"1":2,"3":4}"#, "[1,2,null,4]"), (#"{"0":1,"3":2}"#, "[1,null,null,2]"),
      (#"{"1":"x"}"#, #"[null,"x"]"#), (#"{"0":1,"1":2,"9":3}"#, #"{"0":1,"1":2,"9":3}"#), (#"{"5":1}"#, #"{"5":1}"#),
      (#"{"3":1,"03":2}"#, #"{"3":1,"03":2}"#), (#"{"00":1}"#, #"{"00":1}"#), (#"{"-1":1,"0":2}"#, #"{"-1":1,"0":2}"#),
      (#"{"-0":1}"#, #"{"-0":1}"#), (#"{"0":1,"a":2}"#, #"{"0":1,"a":2}"#),
      (#"{"0":1,"9999999999":2}"#, #"{"0":1,"9999999999":2}"#),
      (#"{"a":{"0":[5]}}"#, #"{"a":[[5]]}"#),
    ])
  func arrays(_ source: String, _ expected: String) throws {
    let tree = try node(source)
    #expect(text(tree.json()) == expected)
    #expect(tree.jsonValue() == (try JSONParser.parse(expected)))
    #expect(!text(tree.json(.export)).contains("["))
  }

  @Test("priorities show in export form only")
  func priorities() throws {
    let source = #"{"a":{".value":1,".priority":5},"b":{"c":"x",".priority":"p"},".priority":2.5}"#
    let tree = try node(source)
    #expect(text(tree.json(.export)) == source)
    #expect(text(tree.json(.plain)) == #"{"a":1,"b":{"c":"x"}}"#)
    #expect(text(TreeNode.leaf(true, priority: 1).json(.export)) == #"{".value":true,".priority":1}"#)
  }

  @Test(
    "an absent node prints null, 1.0 prints 1, 2^53+1 and 1e308 survive",
    arguments: [
      ("null", "null"), ("{}", "null"), ("[]", "null"), (#"{"a":{"b":null},"c":[null,{}]}"#, "null"), ("1.0", "1"),
      ("-0.0", "0"),
      ("9007199254740993", "9007199254740993"), ("1e308", "1e+308"), ("false", "false"), (#""""#, #""""#),
    ])
  func values(_ source: String, _ expected: String) throws {
    #expect(text(try node(source).json()) == expected)
  }

  @Test("1 and 1.0 are one value")
  func integralDoubles() throws {
    #expect(try node("1") == node("1.0"))
    #expect(try node(#"{"a":5}"#) == node(#"{"a":5.0e0}"#))
  }

  @Test("any tree comes back from its export form, compact and pretty, as text and as value")
  func roundTrip() throws {
    var source = RandomTree(seed: 21)
    for _ in 0..<300 {
      let tree = source.node(depthMax: 4)
      #expect(try TreeNode(json: JSONParser.parse(tree.json(.export))) == tree)
      #expect(try TreeNode(json: JSONParser.parse(tree.json(.export, pretty: true))) == tree)
      #expect(try TreeNode(json: tree.jsonValue(.export)) == tree)
      var writer = JSONWriter()
      writer.write(tree.jsonValue(.plain))
      #expect(writer.bytes == tree.json(.plain))
    }
  }

  @Test("an array comes back as the same node")
  func arrayRoundTrip() throws {
    let tree = try node(#"{"0":1,"1":2,"3":4}"#)
    #expect(try TreeNode(json: JSONParser.parse(tree.json())) == tree)
  }
}

/// The sparse difference of event bodies.
struct DeltaTests {
  @Test(
    "null removes, an object merges, anything else replaces",
    arguments: [
      (["a": 1, "b": 2], ["a": 1, "c": 3], ["b": nil, "c": 3]),
      (["a": ["x": 1, "y": 2]], ["a": ["x": 1, "y": 3]], ["a": ["y": 3]]),
      (["a": 1], 5, 5), (5, ["a": 1], ["a": 1]), (["a": 1], .absent, nil), (["a": 1], ["a": 1], [:]),
    ] as [(TreeNode, TreeNode, JSON)])
  func table(before: TreeNode, after: TreeNode, delta: JSON) {
    #expect(before.delta(to: after) == delta)
    #expect(before.applying(delta: delta) == after)
  }

  @Test("The value before with the difference applied is the value after, for random trees", arguments: [11, 12] as [UInt64])
  func random(seed: UInt64) {
    var random = RandomTree(seed: seed)
    for _ in 0..<400 {
      let before = random.node(depthMax: 3)
      let after = random.node(depthMax: 3)
      let applied = before.applying(delta: before.delta(to: after))
      // Priorities are no part of an event; without them both must be the same node.
      #expect(applied == TreeNode.absent.applying(delta: TreeNode.absent.delta(to: after)))
    }
  }
}

@Suite struct WriteNodeTests {
  @Test(
    "every place is filled: values, priorities, both, next to each other and below each other's parents",
    arguments: [
      (#"{".sv":"timestamp"}"#, "7"), (#"{"a":{".sv":"timestamp"},"b":1}"#, #"{"a":7,"b":1}"#),
      (#"{".value":{".sv":"timestamp"},".priority":{".sv":"timestamp"}}"#, #"{".value":7,".priority":7}"#),
      (
        #"{"a":{"b":{".sv":"timestamp"},"c":{".value":1,".priority":{".sv":"timestamp"}},".priority":{".sv":"timestamp"}}}"#,
        #"{"a":{".priority":7,"b":7,"c":{".value":1,".priority":7}}}"#
      ),
      (
        #"{"a":{".sv":{"increment":2}},"b":{"x":{".sv":{"increment":-1}},"y":{".sv":"timestamp"},"z":"z"}}"#,
        #"{"a":12,"b":{"x":9,"y":7,"z":"z"}}"#
      ),
    ])
  func fills(_ source: String, _ expected: String) throws {
    #expect(try WriteNode(json: JSONParser.parse(source)).resolved(now: 7) { _ in .int(10) } == node(expected))
  }

  @Test("many places in one map take as many steps, each place filled with its own")
  func many() throws {
    let keys = (0..<5000).map { "k\($0)" }
    let members = keys.map { JSON.Member(key: $0, value: [".sv": ["increment": 1]]) }
    let write = try WriteNode(json: .object(members))
    var asked = 0
    let node = write.resolved(now: 7) { slot in
      asked += 1
      return .int(Int64(slot.path.keys[0].text.dropFirst()) ?? -1)
    }
    #expect(asked == keys.count && node.children.count == keys.count)
    #expect(node[Key(unchecked: "k0")] == .leaf(.int(1)) && node[Key(unchecked: "k4999")] == .leaf(.int(5000)))
  }
}
