import Testing
@testable import TreeModel

@Suite struct DataHashTests {
  @Test(
    "hashes are those of the clients",
    arguments: [
      ("null", ""), ("true", "E5z61QM0lN/U2WsOnusszCTkR8M="), ("false", "aSSNoqcS4oQwJ2xxH20rvpp3zP0="),
      ("500", "Ajg9bohDwTVmqR14o1bVJnneryM="), ("500.0", "Ajg9bohDwTVmqR14o1bVJnneryM="),
      (#""Hello World""#, "B8HWXc7zXMjrsnJxPRj7wrNGqt4="), (#""""#, "Ki0Xy0V6morg0TO3Sxi/jwugYDQ="),
      (#""€😀""#, "J+hAkV4WyB61qvRLH9rqK6NCwIQ="), (#"{"foo":"bar"}"#, "XnLeTeWQmzTHImTbSMDLg/qMrKY="),
      (#"{"a":{"b":1},"10":"x","9":"y"}"#, "vouNLB7AjvdZXLyghvjOGDxm4t0="),
      (#"{".value":"primitive",".priority":200}"#, "R9u8hs9fhRzuQ2M/3BQ0uhxz5ys="),
      (#"{".priority":128.256,"someKey":"value"}"#, "WYR8kBGna+a7E5x75zvhPhzACOQ="),
      (#"{"a":{".value":1,".priority":2},"b":{".value":2,".priority":1}}"#, "/3lk7Vfl5OYG6Kw2SkiPXNeExPw="),
      (#"{"intNode":4,"doubleNode":4.5623,"stringNode":"hey guys","boolNode":true}"#, "6Mc4jFmNdrLVIlJJjz2/MakTK9I="),
    ])
  func vectors(_ source: String, _ hash: String) throws {
    let tree = try node(source)
    #expect(tree.dataHash == hash)
    #expect(tree.matches(dataHash: hash))
  }

  @Test("a hash of something else does not match")
  func mismatch() throws {
    #expect(!TreeNode.absent.matches(dataHash: "E5z61QM0lN/U2WsOnusszCTkR8M="))
    #expect(!TreeNode.leaf(true).matches(dataHash: ""))
    #expect(!TreeNode.leaf(true).matches(dataHash: TreeNode.leaf(false).dataHash))
    #expect(!(try node(#"{"a":{".value":1,".priority":2}}"#).matches(dataHash: node(#"{"a":1}"#).dataHash)))
  }

  // Computed with the JavaScript client's routine in Node.
  @Test(
    "numbers have the bits that JavaScript computes, its errors included",
    arguments: [
      (9_007_199_254_740_991, 0x4340_0000_0000_0000), (9_007_199_254_740_990, 0x434F_FFFF_FFFF_FFFF),
      (3.9999999999999996, 0x4010_0000_0000_0000), (0x1p-29, 0x3E10_0000_0000_0000), (0x1p-31, 0x3DF0_0000_0000_0000),
      (0x1p-39, 0x3D70_0000_0000_0000), (-0x1p-29, 0xBE10_0000_0000_0000), (281_474_976_710_655.97, 0x42F0_0000_0000_0000),
      (1e-300, 0x01A0_0000_0000_0000), (1, 0x3FF0_0000_0000_0000), (0.1, 0x3FB9_9999_9999_999A), (0, 0),
      (500, 0x407F_4000_0000_0000),
      (.leastNonzeroMagnitude, 1),
    ] as [(Double, UInt64)])
  func javaScript(_ value: Double, _ bits: UInt64) {
    #expect(JavaScriptDouble.bitPattern(value) == bits)
  }

  @Test("a node with 2^53-1 matches the hash that JavaScript sends")
  func maxSafeInteger() {
    // The hash of the text "number:4340000000000000", which is also that of 2^53.
    let sent = TreeNode.leaf(.int(9_007_199_254_740_992)).dataHash
    let tree = TreeNode.leaf(.int(9_007_199_254_740_991))
    #expect(tree.dataHash != sent)
    #expect(tree.matches(dataHash: sent))
    #expect(!TreeNode.leaf(.int(9_007_199_254_740_000)).matches(dataHash: sent))
  }

  @Test("children that all have priorities may come in key order, as iOS sends them")
  func keyOrder() throws {
    let tree = try node(#"{"a":{".value":1,".priority":2},"b":{".value":2,".priority":1}}"#)
    let iOS = ["a", "b"].map { ":\($0):" + tree[Key(unchecked: $0)].dataHash }.joined()
    let hash = DataHashTests.sha1(iOS)
    #expect(hash != tree.dataHash)
    #expect(tree.matches(dataHash: hash))
  }

  @Test("children of which some have priorities come in priority order for every client")
  func mixedOrder() throws {
    let tree = try node(#"{"a":{".value":1,".priority":2},"b":2}"#)
    let priorityOrder = ["b", "a"].map { ":\($0):" + tree[Key(unchecked: $0)].dataHash }.joined()
    let keyOrder = ["a", "b"].map { ":\($0):" + tree[Key(unchecked: $0)].dataHash }.joined()
    #expect(tree.dataHash == DataHashTests.sha1(priorityOrder))
    #expect(!tree.matches(dataHash: DataHashTests.sha1(keyOrder)))
  }

  /// The hash of a text as it stands.
  private static func sha1(_ text: String) -> String { DataHash.digest(Array(text.utf8)) }
}
