package import HTTPServer
package import StorageCore
import Synchronization
import TreeDatabase
package import TreeModel

/// What administrators write into the tree: where, how much and who, not what. The values are in the tree's own log.
extension AuditTrail {
  /// Writes of one administrator that are recorded in a minute. A person makes fewer; a game's own server makes more, and the
  /// next record counts those that were left out.
  static let treeWritesPerMinute = 20

  /// The record of an administrator's write, for the commit that makes it: a write that is refused leaves none.
  ///
  /// - Parameters:
  ///   - action: what it is called; nil: what the operation does.
  ///   - bytes: how much was sent; nil where nothing was.
  ///   - namespace: by name.
  /// - Returns: nil for everybody else's write, and for one beyond ``treeWritesPerMinute``.
  package func treeWrite(
    _ operation: WriteOperation, as action: String? = nil, by caller: Caller, bytes: Int? = nil, in namespace: String
  ) -> AuditRecord? {
    guard caller.role != nil else { return nil }
    let now = database.clock.now()
    guard let leftOut = treeWriters.withLock({ Self.quota(of: caller.actor, among: &$0) }).take(at: now) else { return nil }
    var members: [JSON.Member] = [.init(key: "path", value: .string(operation.path.description))]
    if namespace != self.namespace { members.append(.init(key: "ns", value: .string(namespace))) }
    if operation.assignments.count > 1 {
      members.append(.init(key: "places", value: .int(Int64(operation.assignments.count))))
    }
    if let bytes, bytes > 0 { members.append(.init(key: "bodyBytes", value: .int(Int64(bytes)))) }
    if leftOut > 0 { members.append(.init(key: "leftOutBefore", value: .int(leftOut))) }
    var writer = JSONWriter()
    writer.write(.object(members))
    return AuditRecord(
      time: now, actor: caller.actor, action: action ?? operation.auditName,
      detail: String(decoding: writer.bytes, as: UTF8.self), result: "ok")
  }

  private static func quota(of actor: Actor, among known: inout [Actor: AuditQuota]) -> AuditQuota {
    if let quota = known[actor] { return quota }
    // There are as many as administrators have names; should it ever be more, counting begins again.
    if known.count >= 1000 { known = [:] }
    let quota = AuditQuota(rowsPerMinute: treeWritesPerMinute)
    known[actor] = quota
    return quota
  }
}

extension WriteOperation {
  /// What it does, as the audit log calls it.
  fileprivate var auditName: String {
    guard assignments.count == 1, let assignment = assignments.first, assignment.path == path else { return "data.update" }
    if case .node(let write) = assignment.value, !write.node.exists, write.slots.isEmpty { return "data.remove" }
    return "data.set"
  }
}
