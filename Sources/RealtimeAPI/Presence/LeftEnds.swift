import APISupport
import HTTPServer
import Logging
package import StorageCore
import TreeDatabase
import TreeModel

/// Makes the `onDisconnect` writes of sessions whose server ended before them: its process died, or its node does not lead any more.
///
/// Clients may be there again by then: what one of them has written since the start is left alone.
package struct LeftEnds: Sendable {
  /// Records that are read in one go.
  private static let page = 500
  /// How long a full queue is waited for, in milliseconds.
  private static let pause = 200

  private struct Place: Sendable {
    let id: NamespaceID
    let name: String
    /// The last commit before clients can connect.
    let head: Revision
  }

  private let services: RealtimeServices
  private let places: [Place]

  /// Before clients can connect.
  package init(_ services: RealtimeServices) throws(StorageError) {
    self.services = services
    places = try services.database.engine.read { (snapshot) throws(StorageError) -> [Place] in
      var places: [Place] = []
      for record in try snapshot.namespaces() {
        places.append(Place(id: record.id, name: record.name, head: try snapshot.head(of: record.id).revision))
      }
      return places
    }
  }

  /// Makes them all. While the server runs.
  package func run() async throws {
    var count = 0
    for place in places {
      var session: (end: KeptEnd, records: [KeyedRecord])?
      var last: String?
      while !Task.isCancelled {
        guard let records = records(in: place, after: last) else { return }
        for record in records {
          guard let name = KeptEnd.name(ofKey: record.key), !name.hasPrefix(services.run + "/") else { continue }
          if session?.end.name != name {
            if let session, try await carryOut(session.end, session.records, in: place) { count += 1 }
            session = (KeptEnd(name: name), [])
          }
          session?.records.append(record)
        }
        guard let key = records.last?.key else { break }
        last = key
      }
      if let session, try await carryOut(session.end, session.records, in: place) { count += 1 }
    }
    guard count > 0 else { return }
    services.logger.notice(
      "wrote what clients had registered for their ends before the server ended", metadata: ["sessions": "\(count)"])
  }

  /// A page of what is kept, of this run's sessions, too; nil if the store cannot be read any more.
  private func records(in place: Place, after key: String?) -> [KeyedRecord]? {
    do throws(StorageError) {
      return try services.database.engine.read { (snapshot) throws(StorageError) in
        try snapshot.records(in: place.id, kind: KeptEnd.kind, after: key, isDescending: false, limit: Self.page)
      }
    } catch {
      services.logger.warning(
        "what clients had registered for their ends waits for the next start", metadata: ["reason": "\(error.message)"])
      return nil
    }
  }

  /// - Returns: false if the store takes nothing any more.
  private func carryOut(_ end: KeptEnd, _ records: [KeyedRecord], in place: Place) async throws -> Bool {
    let caller = caller(records.first { $0.key == end.name })
    let assignments = records.filter { $0.key != end.name }.flatMap { end.assignments($0) ?? [] }
      .filter { services.access.mayWrite($0.path, in: place.name, as: caller) }
    let removal = records.map { KeyedRecordChange(kind: KeptEnd.kind, key: $0.key, value: nil) }
    if let update = try? WriteOperation.update(.root, assignments), !assignments.isEmpty {
      var whole = request([update], as: caller, in: place)
      whole.rows.records = removal
      whole.log.audit = services.audit.treeWrite(update, as: "data.onDisconnect", by: caller, in: place.name)
      switch try await submit(whole) {
      case .done: return true
      case .over: return false
      case .refused: break
      }
      // What cannot be written, or was written by a client that is there again, takes nothing from the others.
      for assignment in assignments {
        guard let update = try? WriteOperation.update(.root, [assignment]) else { continue }
        if case .over = try await submit(request([update], as: caller, in: place)) { return false }
      }
    }
    var rest = CommitRequest(namespace: place.id, actor: caller.actor)
    rest.rows.records = removal
    if case .over = try await submit(rest) { return false }
    return true
  }

  private func caller(_ record: KeyedRecord?) -> Caller {
    let caller = record.map { KeptEnd.caller($0.value) } ?? .anonymous
    let isOver = caller.validUntil.map { $0 <= services.database.clock.now() } ?? false
    return isOver || services.authenticator.isVoid(caller) ? .anonymous : caller
  }

  private func request(_ operations: [WriteOperation], as caller: Caller, in place: Place) -> CommitRequest {
    var request = CommitRequest(namespace: place.id, actor: caller.actor, operations: operations)
    request.access.auth = caller.auth
    request.preconditions.unwritten = operations.flatMap(\.assignments).map { assignment in
      CommitRequest.Unwritten(path: assignment.path, since: place.head)
    }
    return request
  }

  private enum Outcome {
    case done, refused
    /// The store takes nothing any more: the next server goes on.
    case over
  }

  private func submit(_ request: CommitRequest) async throws -> Outcome {
    while true {
      do throws(CommitError) {
        _ = try await services.database.commit(request)
        return .done
      } catch {
        switch error.code {
        case .overloaded: try await Task.sleep(for: .milliseconds(Self.pause))
        case .unavailable: return .over
        default:
          services.logger.info("what a client registered for its end is not written", metadata: ["reason": "\(error.message)"])
          return .refused
        }
      }
    }
  }
}
