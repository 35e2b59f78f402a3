package import HTTPServer
import StorageCore
package import TreeDatabase
package import TreeModel

/// Who may do what at the door: the seam that security rules fill.
///
/// Writes are judged here only as far as the caller alone decides; what depends on the data is judged on the writer.
package protocol AccessDeciding: Sendable {
  /// Whether the caller may read the node, or a window over its children.
  ///
  /// Called on event loops: it may look at single nodes.
  func judgeRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> ReadJudgement
  /// Why the caller may not read there, for people; nil where no rule has a say.
  func explainRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> String?
  /// Whether the caller may send writes for the node.
  func mayWrite(_ path: Path, in namespace: String, as caller: Caller) -> Bool
  /// Whether some data could be written at the node, or also below it, by the caller: what is known before the data are read.
  func mightWrite(_ path: Path, below: Bool, in namespace: String, as caller: Caller) -> Bool
  /// Whether a caller's writes are judged on the writer, by the rules of the namespace.
  func judgesWrites(in namespace: String, of caller: Caller) -> Bool
  /// Whether namespaces come into being when they are first written to.
  var createsNamespaces: Bool { get }
  /// Whether the tools of development are there: deleting namespaces, moving the clock, suppressing triggers.
  var isDevelopment: Bool { get }
}

extension AccessDeciding {
  package func mightWrite(_ path: Path, below: Bool, in namespace: String, as caller: Caller) -> Bool {
    mayWrite(path, in: namespace, as: caller)
  }

  /// Why a caller may not read there, if the caller may know that: in development everybody, else administrators who try out
  /// what others may.
  func reasons(ofDenying caller: Caller, _ path: Path, query: Query?, in namespace: String) -> String? {
    mayKnowReasons(caller) ? explainRead(path, query: query, in: namespace, as: caller) : nil
  }

  /// Where the writer notes why it denies a write, if the caller may know that.
  func note(for caller: Caller, in namespace: String) -> JudgementNote? {
    mayKnowReasons(caller) && judgesWrites(in: namespace, of: caller) ? JudgementNote() : nil
  }

  /// Whether a caller may know what rules say and see: never a client in production.
  func mayKnowReasons(_ caller: Caller) -> Bool { isDevelopment || caller.isImpersonated }
}
