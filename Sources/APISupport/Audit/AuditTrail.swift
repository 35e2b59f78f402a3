import CoreMetrics
package import HTTPServer
import Logging
package import NIOCore
package import StorageCore
import Synchronization
import TreeDatabase
package import TreeModel

/// Records what administrators change, and what was refused: in the store, and in the log of the process.
///
/// One for the whole server. It logs neither bodies nor secrets.
package final class AuditTrail: RequestAuditing {
  /// Bytes of arguments that a record keeps.
  private static let detailBytesMax = 4096
  /// Members of a long order that are kept.
  private static let memberBytesMax = 1024

  /// Records a minute of those without an administrator's credentials.
  static let unauthenticatedPerMinute = 10

  let database: Database
  /// The namespace whose commits carry the records.
  let namespace: String
  private let logger: Logger
  /// How much unauthenticated clients may cause to be written: they must not be able to fill the disk.
  private let unauthenticated = AuditQuota(rowsPerMinute: unauthenticatedPerMinute)
  /// How many of each administrator's writes into the tree are recorded one by one.
  let treeWriters = Mutex<[Actor: AuditQuota]>([:])
  /// Refusals of unauthenticated clients that were left out.
  private let leftOut: Counter

  init(database: Database, namespace: String, leftOut: Counter, logger: Logger) {
    self.database = database
    self.namespace = namespace
    self.leftOut = leftOut
    self.logger = logger
  }

  /// Adds a record; it rides in a commit of its own, behind the action.
  ///
  /// Query parameters that hold credentials are left out.
  package func record(
    _ action: String, by actor: Actor, captures: [String: String], query: QueryString, body: ByteBuffer?, requestID: String?,
    result: String
  ) {
    var members = captures.sorted { $0.key < $1.key }.map { JSON.Member(key: $0.key, value: .string($0.value)) }
    // Neither credentials, nor what only the server says of a request.
    for parameter in query.parameters where !["auth", "access_token", "ac", "via", "address"].contains(parameter.name) {
      members.append(JSON.Member(key: parameter.name, value: .string(parameter.value)))
    }
    if let body, body.readableBytes > 0 { members += Self.members(of: body, action: action) }
    if let requestID { members.append(JSON.Member(key: "request", value: .string(requestID))) }
    add(action, by: actor, members: members, requestID: requestID, result: result)
  }

  /// What a write puts somewhere, by the names that bodies have for it.
  private static let contents: Set<String> = ["value", "source", "rules"]

  /// What is kept of a body: of a write into the tree where and why. The values are in the tree's own log, where an erasure
  /// finds them; the source of rules is in their history. Of an order about many holds or payments what is short, such as why; the
  /// ledger has the rest.
  private static func members(of body: ByteBuffer, action: String) -> [JSON.Member] {
    let isWrite = action.hasPrefix("data.") || action.hasPrefix("rules.")
    let isShort = body.readableBytes <= detailBytesMax
    let isMany = !isShort && action.hasPrefix("ledger.")
    let parsed = isShort || isWrite || isMany ? body.withUnsafeReadableBytes { try? JSONParser.parse($0) } : nil
    var kept: [JSON.Member] = []
    // Of what is not kept at least the size is.
    var isWhole = false
    if let parsed {
      let shown =
        if isWrite {
          parsed.object.map { JSON.object($0.filter { !contents.contains($0.key) }) } ?? .null
        } else if isMany {
          parsed.object.map { JSON.object($0.filter { $0.value.compactText.utf8.count <= memberBytesMax }) } ?? .null
        } else {
          action.hasPrefix("accounts.") ? withoutPersons(parsed) : parsed
        }
      if isShort && !isWrite || shown.compactText.utf8.count <= detailBytesMax {
        kept.append(JSON.Member(key: "body", value: shown))
        isWhole = isShort && !isWrite
      }
    }
    if !isWhole { kept.append(JSON.Member(key: "bodyBytes", value: .int(Int64(body.readableBytes)))) }
    return kept
  }

  /// What identifies a person, or lets one in, is changed on record, but not what it became: an erasure does not reach here.
  private static let personal: Set<String> = ["password", "email", "displayName", "phone", "phoneNumber", "q"]

  private static func withoutPersons(_ body: JSON) -> JSON {
    guard let members = body.object else { return body }
    return .object(
      members.map { personal.contains($0.key) && $0.value.string != nil ? JSON.Member(key: $0.key, value: "…") : $0 })
  }

  /// Records a refused client without an administrator's credentials: what was asked for and nothing of what they sent, and
  /// only so many a minute (``AuditQuota``).
  package func recordUnauthenticated(_ action: String, by actor: Actor, result: String) {
    guard let before = unauthenticated.take(at: database.clock.now()) else { return leftOut.increment() }
    add(action, by: actor, members: before == 0 ? [] : [JSON.Member(key: "leftOutBefore", value: .int(before))], result: result)
  }

  /// Returns when what was recorded so far can be read, or was refused: records are committed behind the answers, and a
  /// client that got an answer finds it on record.
  package func settle() async {
    // A record may wait for its namespace to be opened, and is given to the writer then: the second turn is behind it.
    for _ in 0..<2 {
      await withCheckedContinuation { told in database.rehearse([]) { _ in told.resume() } }
    }
  }

  private func add(_ action: String, by actor: Actor, members: [JSON.Member], requestID: String? = nil, result: String) {
    var writer = JSONWriter()
    writer.write(.object(members))
    let record = AuditRecord(
      time: database.clock.now(), actor: actor, action: action,
      detail: String(decoding: writer.bytes, as: UTF8.self), result: result)
    var metadata: Logger.Metadata = ["action": "\(action)", "actor": "\(actor)", "result": "\(result)"]
    if let requestID { metadata["request"] = "\(requestID)" }
    logger.info("admin action", metadata: metadata)
    put(record)
  }

  /// Commits a record by itself.
  package func put(_ record: AuditRecord) {
    if let carrier = database.carrier(named: namespace) { return commit(record, in: carrier) }
    database.openNamespace(named: namespace) { [self] opened in
      guard case .success(let carrier) = opened else { return }
      commit(record, in: carrier)
    }
  }

  private func commit(_ record: AuditRecord, in namespace: NamespaceID) {
    var request = CommitRequest(namespace: namespace, actor: record.actor)
    request.log.audit = record
    database.submit(request) { [logger] committed in
      if case .failure(let error) = committed {
        logger.error("an admin action could not be recorded", metadata: ["reason": "\(error.message)"])
      }
    }
  }
}

/// What administrators write into the tree: where, how much and who, not what. The values are in the tree's own log.
extension AuditTrail {
  /// Writes of one administrator that are recorded in a minute. A person makes fewer; a game's own server makes more, and the
  /// next record counts those that were left out.
  static let treeWritesPerMinute = 20

  /// The record of an administrator's write, for the commit that makes it: a write that is refused leaves none.
  ///
  /// - `action`: what it is called; nil: what the operation does.
  /// - `bytes`: how much was sent; nil where nothing was.
  /// - `namespace`: by name.
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

/// How many records of one kind the audit log takes in a minute, so that the disk is not filled with them.
///
/// What is left out is counted, and the next record that is taken says how much it was.
final class AuditQuota: Sendable {
  private struct State {
    var minute: Int64 = .min
    var rows = 0
    var leftOut: Int64 = 0
  }

  private let rowsPerMinute: Int
  private let state = Mutex(State())

  init(rowsPerMinute: Int) {
    self.rowsPerMinute = rowsPerMinute
  }

  /// Counts one record.
  ///
  /// - Parameter now: in milliseconds since 1970.
  /// - Returns: how many were left out since the last one, if this one is taken; nil if it is left out.
  func take(at now: Int64) -> Int64? {
    state.withLock { state in
      let minute = now / 60_000
      if minute != state.minute { (state.minute, state.rows) = (minute, 0) }
      guard state.rows < rowsPerMinute else {
        state.leftOut += 1
        return nil
      }
      state.rows += 1
      defer { state.leftOut = 0 }
      return state.leftOut
    }
  }
}

extension Database {
  /// The namespace whose commit carries a row that belongs to none: the server's own or, of a folder that was served as
  /// another project, any that is there. Nil if there is none at all.
  func carrier(named name: String) -> NamespaceID? {
    if let own = namespace(named: name) { return own }
    return try? engine.read { snapshot in try snapshot.namespaces().first?.id }
  }
}
