import Testing
import TreeModel

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
