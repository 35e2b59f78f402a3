import APISupport
import HTTPServer
import Logging
import StorageCore
import TreeDatabase
import TreeModel

/// Makes the `onDisconnect` writes of sessions whose server ended before them: its process died, or its node does not lead any more.
///
/// Before clients can connect: whatever one writes that is there again comes later.
package struct LeftEnds: Sendable {
  /// Records that are read in one go.
  private static let page = 500
  /// Sessions whose commits are on their way at one time.
  private static let widthMax = 256
  /// How long a full queue is waited for, in milliseconds.
  private static let pause = 200

  /// A session and what is kept of it.
  private struct Left: Sendable {
    let place: NamespaceRecord
    let end: KeptEnd
    var records: [KeyedRecord] = []
  }

  private let services: RealtimeServices

  package init(_ services: RealtimeServices) {
    self.services = services
  }

  /// Makes them all; where the store takes nothing, they wait for the next start, and this server answers what is read.
  ///
  /// - Returns: of how many sessions.
  /// - Throws: `StorageError` if the store cannot be read.
  @discardableResult
  package func run() async throws -> Int {
    var count = 0
    for place in try services.database.engine.read({ (snapshot) throws(StorageError) in try snapshot.namespaces() }) {
      do {
        count += try await run(in: place)
      } catch let error as CommitError {
        services.logger.warning(
          "what clients had registered for their ends waits for the next start", metadata: ["reason": "\(error.message)"])
        return count
      }
    }
    if count > 0 {
      services.logger.notice(
        "wrote what clients had registered for their ends before the server ended", metadata: ["sessions": "\(count)"])
    }
    return count
  }

  private func run(in place: NamespaceRecord) async throws -> Int {
    try await withThrowingTaskGroup(of: Void.self) { group in
      var (count, session, last): (Int, Left?, String?) = (0, nil, nil)
      func begin(_ left: Left) async throws {
        if count >= Self.widthMax { try await group.next() }
        count += 1
        group.addTask { try await carryOut(left) }
      }
      while true {
        let records = try services.database.engine.read { [last] (snapshot) throws(StorageError) in
          try snapshot.records(in: place.id, kind: KeptEnd.kind, after: last, isDescending: false, limit: Self.page)
        }
        for record in records {
          guard let name = SessionEndErasing.session(ofKey: record.key), !isOwn(name) else { continue }
          if session?.end.name != name {
            if let session { try await begin(session) }
            session = Left(place: place, end: KeptEnd(name: name))
          }
          session?.records.append(record)
        }
        guard let key = records.last?.key else { break }
        last = key
      }
      if let session { try await begin(session) }
      try await group.waitForAll()
      return count
    }
  }

  /// Whether a session is one of this server's own.
  private func isOwn(_ name: String) -> Bool { name.utf8.starts(with: "\(services.run)/".utf8) }

  private func carryOut(_ left: Left) async throws {
    let own = left.records.first { $0.key.utf8.count == left.end.name.utf8.count }
    let caller = caller(own)
    var writes: [(assignment: WriteOperation.Assignment, removal: KeyedRecordChange)] = []
    for record in left.records where record.key != own?.key {
      for assignment in left.end.assignments(record) ?? []
      where services.access.mayWrite(assignment.path, in: left.place.name, as: caller) {
        writes.append((assignment, Self.removal(of: record)))
      }
    }
    let removal = left.records.map(Self.removal)
    if !writes.isEmpty, let update = try? WriteOperation.update(.root, writes.map(\.assignment)) {
      var whole = request([update], removing: removal, as: caller, in: left.place)
      whole.log.audit = services.audit.treeWrite(update, as: "data.onDisconnect", by: caller, in: left.place.name)
      if try await submit(whole) { return }
      // What cannot be written takes nothing from the others.
      for write in writes {
        guard let update = try? WriteOperation.update(.root, [write.assignment]) else { continue }
        _ = try await submit(request([update], removing: [write.removal], as: caller, in: left.place))
      }
    }
    _ = try await submit(request([], removing: removal, as: caller, in: left.place))
  }

  private static func removal(of record: KeyedRecord) -> KeyedRecordChange {
    KeyedRecordChange(kind: record.kind, key: record.key, value: nil)
  }

  private func caller(_ record: KeyedRecord?) -> Caller {
    let caller = record.map { KeptEnd.caller($0.value) } ?? .anonymous
    let isOver = caller.validUntil.map { $0 <= services.database.clock.now() } ?? false
    return isOver || services.authenticator.isVoid(caller) ? .anonymous : caller
  }

  private func request(
    _ operations: [WriteOperation], removing records: [KeyedRecordChange], as caller: Caller, in place: NamespaceRecord
  ) -> CommitRequest {
    var request = CommitRequest(namespace: place.id, actor: caller.actor, operations: operations)
    request.access.auth = caller.auth
    request.rows.records = records
    return request
  }

  /// - Returns: false if it was refused.
  /// - Throws: `CommitError` if the store takes nothing any more: the next server goes on.
  private func submit(_ request: CommitRequest) async throws -> Bool {
    while true {
      do throws(CommitError) {
        _ = try await services.database.commit(request)
        return true
      } catch {
        switch error.code {
        case .overloaded: try await Task.sleep(for: .milliseconds(Self.pause))
        case .unavailable: throw error
        default:
          services.logger.info("what a client registered for its end is not written", metadata: ["reason": "\(error.message)"])
          return false
        }
      }
    }
  }
}
