package import HTTPServer
import Logging
package import NIOCore
package import StorageCore
import Synchronization
import TreeDatabase
import TreeModel

/// Records what administrators change, and what was refused (design §8): in the store, and in the log of the process.
///
/// One for the whole server. It logs neither bodies nor secrets.
package final class AuditTrail: RequestAuditing {
  /// Bytes of arguments that a record keeps.
  private static let detailBytesMax = 4096

  /// Records a minute of those without an administrator's credentials.
  static let strangersPerMinute = 10

  let database: Database
  /// The namespace whose commits carry the records.
  let namespace: String
  private let logger: Logger
  /// How much strangers may write: who has no credentials must not be able to fill the disk.
  private let strangers = AuditQuota(rowsPerMinute: strangersPerMinute)
  /// How many of each administrator's writes into the tree are recorded one by one.
  let treeWriters = Mutex<[Actor: AuditQuota]>([:])
  /// Refusals of strangers that were left out.
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
    _ action: String, by actor: Actor, _ captures: [String: String], _ query: QueryString, _ body: ByteBuffer?, result: String
  ) {
    var members = captures.sorted { $0.key < $1.key }.map { JSON.Member(key: $0.key, value: .string($0.value)) }
    for parameter in query.parameters where !["auth", "access_token", "ac"].contains(parameter.name) {
      members.append(JSON.Member(key: parameter.name, value: .string(parameter.value)))
    }
    if let body, body.readableBytes > 0 {
      let isShort = body.readableBytes <= Self.detailBytesMax
      let json = isShort ? body.withUnsafeReadableBytes { try? JSONParser.parse($0) } : nil
      // Of what is not kept at least the size is.
      members.append(
        json.map { JSON.Member(key: "body", value: $0) }
          ?? JSON.Member(key: "bodyBytes", value: .int(Int64(body.readableBytes))))
    }
    add(action, by: actor, members, result: result)
  }

  /// Adds a record of somebody without an administrator's credentials who was refused: what they asked for and nothing of
  /// what they sent, and only so many a minute (``AuditQuota``).
  package func recordStranger(_ action: String, by actor: Actor, result: String) {
    guard let before = strangers.take(at: database.clock.now()) else { return leftOut.add() }
    add(action, by: actor, before == 0 ? [] : [JSON.Member(key: "leftOutBefore", value: .int(before))], result: result)
  }

  /// Returns when what was recorded so far can be read, or was refused: records are committed behind the answers, and a
  /// client that got an answer finds it on record.
  package func settle() async {
    // A record may wait for its namespace to be opened, and is given to the writer then: the second turn is behind it.
    for _ in 0..<2 {
      await withCheckedContinuation { told in database.rehearse([]) { _ in told.resume() } }
    }
  }

  private func add(_ action: String, by actor: Actor, _ members: [JSON.Member], result: String) {
    var writer = JSONWriter()
    writer.write(.object(members))
    let record = AuditRecord(
      time: database.clock.now(), actor: actor, action: action,
      detail: String(decoding: writer.bytes, as: UTF8.self), result: result)
    logger.info("admin action", metadata: ["action": "\(action)", "actor": "\(actor)", "result": "\(result)"])
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
    request.audit = record
    database.submit(request) { [logger] committed in
      if case .failure(let refusal) = committed {
        logger.error("an admin action could not be recorded", metadata: ["reason": "\(refusal.message)"])
      }
    }
  }
}
