import TreeModel

/// The text of UTF-8 bytes.
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// A node from JSON text in export form.
func node(_ json: String) throws -> TreeNode { try TreeNode(json: JSONParser.parse(json)) }

/// The error that a body throws; nil if it throws none.
func thrown<E: Error>(_ type: E.Type = E.self, _ body: () throws -> Void) -> E? {
  do {
    try body()
    return nil
  } catch {
    return error as? E
  }
}
