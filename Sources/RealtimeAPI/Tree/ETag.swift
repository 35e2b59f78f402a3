import TreeModel

/// A node's version for HTTP: its data hash, or `null_etag` where there is no node (spec: rtdb-protocol §2, ETag).
enum ETag {
  static let absent = "null_etag"

  /// Of a node.
  static func of(_ node: TreeNode) -> String { node.exists ? node.dataHash : absent }

  /// The data hash that a client's condition names: without the quotes and the weakness mark that HTTP libraries add.
  static func hash(in value: String) -> String {
    var text = value[...]
    if text.hasPrefix("W/") { text = text.dropFirst(2) }
    if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = text.dropFirst().dropLast() }
    return text == absent ? "" : String(text)
  }
}
