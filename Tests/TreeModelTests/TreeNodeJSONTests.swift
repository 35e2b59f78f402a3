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
