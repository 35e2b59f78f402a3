import StorageCore
import TreeDatabase
import TreeModel

/// A one-shot read, ready to be made on any thread.
struct SocketReading: Sendable {
  let path: Path
  let query: Query?
  let namespace: NamespaceID
  /// Of the request.
  let number: Int64

  /// - Returns: the whole message; nil if there is more to read than `bounds` allow.
  func answer(_ engine: any StorageEngine, _ reader: TreeReader, within bounds: ReadBounds) -> [UInt8]? {
    do throws(TreeReadError) {
      let node = try engine.read { (snapshot) throws(TreeReadError) -> TreeNode in
        guard let query else { return try reader.node(at: path, in: namespace, of: snapshot, within: bounds) }
        return try reader.result(of: query, at: path, in: namespace, of: snapshot, within: bounds).node
      }
      return SocketAnswers.ok(number, capacity: 256) { node.write(to: &$0, format: .export) }
    } catch {
      switch error {
      case .tooLarge: return nil
      case .stopped: return SocketAnswers.refused(number, .tooMuch)
      case .storage(let fault): return SocketAnswers.refused(number, SocketRefusal("unavailable", fault.message))
      }
    }
  }
}
