import DoubloonTesting
import FunctionsKit
@testable import ServerApp
import StorageCore
import Synchronization
import TreeModel
import Triggers

/// A small game's places.
enum Game {
  static let level = TreePath<Int64, UserID>("/users/{uid}/level")
  static let badge = TreePath<String, UserID>("/users/{uid}/badge")
  static let count = TreePath<Int64, UserID>("/users/{uid}/count")
  static let referrer = TreePath<String, UserID>("/users/{uid}/referred_by")
  static let gold = TreePath<Int64, UserID>("/users/{uid}/inventory/pieces_of_eight")
  static let record = TreePath<Record, UserID>("/users/{uid}")

  struct Record: Codable, Sendable {
    var level: Int64?
  }
}

struct Amount: FunctionSettings {
  var amount: Int64 = 50
}

struct Oops: Error {}

/// What a test waited for did not happen.
struct NeverCame: Error {}

/// Something that a test turns on and off while functions look.
final class Switch: Sendable {
  private let value: Mutex<Bool>

  init(_ isOn: Bool) { value = Mutex(isOn) }

  var isOn: Bool { value.withLock(\.self) }
  func set(_ isOn: Bool) { value.withLock { $0 = isOn } }
}

extension UserID {
  init(unchecked text: String) { self.init(stringLiteral: text) }
}

extension TestServer {
  var replayer: Replayer { application.replayer }
  /// The one namespace there is.
  var namespaceID: NamespaceID {
    let namespaces = try? application.engine.read { snapshot in try snapshot.namespaces() }
    return namespaces?.first?.id ?? NamespaceID(rawValue: 0)
  }

  func order(_ mode: ReplayOrder.Mode, function: String? = nil) -> ReplayOrder {
    ReplayOrder(mode: mode, function: function, reason: "the test wants it", actor: .admin("test"))
  }

  /// Begins a replay and waits for its end.
  @discardableResult
  func replay(_ order: ReplayOrder) async throws -> ReplayRecord {
    try await ended(replayer.start(order, in: namespaceID).id)
  }

  /// The record of a replay once it is over, or paused.
  func ended(_ id: Int64) async throws -> ReplayRecord {
    let namespaceID = namespaceID
    var record: ReplayRecord?
    try await waitUntil {
      record = try self.application.engine.read { snapshot in
        try snapshot.replay(in: namespaceID, id: id)
      }
      return record.map { $0.state != .running } ?? false
    }
    return record!
  }

  /// Looks again and again, with a bound.
  func waitUntil(_ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
      if try await condition() { return }
      await Task.yield()
    }
    throw NeverCame()
  }

  func canonicalHash() throws -> [UInt8] {
    let namespaceID = namespaceID
    return try application.engine.read { snapshot in
      try CanonicalHash.of(namespaceID, in: snapshot)
    }
  }

  /// What the store holds that a dry run must not add to: commits, entries, events, audits, replays.
  func everything() throws -> [String] {
    let namespaceID = namespaceID
    return try application.engine.read { snapshot in
      let head = try snapshot.head(of: namespaceID)
      return [
        "\(head)", "\(try snapshot.audits(before: nil, limit: 1000))",
        "\(try snapshot.replays(in: namespaceID, before: nil, limit: 1000))",
        "\(try snapshot.events(in: namespaceID, after: nil, limit: 10_000))",
        "\(try snapshot.deliveries(in: namespaceID, state: .dead, after: nil, limit: 10_000))",
        "\(try snapshot.executions(in: namespaceID, after: nil, limit: 10_000))",
        "\(try CanonicalHash.of(namespaceID, in: snapshot))",
      ]
    }
  }
}

extension JSON {
  /// The value as text without spaces, for what must be somewhere in it, or nowhere.
  var compact: String {
    var writer = JSONWriter()
    writer.write(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
