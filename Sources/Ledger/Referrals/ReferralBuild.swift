package import StorageCore
import TreeModel

/// Makes the index of who brought whom from the tree, where it was not kept so far: the path is declared for the first time,
/// another one was declared before, or a program that declared none has written.
///
/// To be run before anybody else writes. Commits that change it afterwards are ``ReferralIndex``'s.
package struct ReferralBuild: Sendable {
  /// The one record that says which path the index is whole for.
  static let markKind = "referral-index"
  private static let markKey = "place"
  /// The kinds of records that follow from the tree: where they are missing, this makes them.
  package static let derivedKinds = [ReferralIndex.kind, markKind]
  private static let pageSize = 1000

  let referralPath: ReferralPath?
  let engine: any StorageEngine
  let writer: any TreeWriter

  /// - `referralPath`: nil where none is declared; then an index that was kept before is marked as one to be made again.
  package init(_ referralPath: ReferralPath?, engine: any StorageEngine, writer: any TreeWriter) {
    self.referralPath = referralPath
    self.engine = engine
    self.writer = writer
  }

  /// Looks after every namespace; costs one look-up each where the index is whole.
  ///
  /// - Returns: how many namespaces got a new index.
  package func run() async throws -> Int {
    let namespaces = try read { snapshot in try snapshot.namespaces() }
    var built = 0
    for namespace in namespaces {
      let mark = try read { snapshot in
        try snapshot.record(in: namespace.id, kind: Self.markKind, key: Self.markKey)
      }
      guard mark != referralPath?.pattern.description else { continue }
      if mark != nil {
        try await put([KeyedRecordChange(kind: Self.markKind, key: Self.markKey, value: nil)], in: namespace.id)
      }
      guard let referralPath else { continue }
      try await clear(namespace.id)
      try await fill(namespace.id, referralPath: referralPath)
      try await put([Self.mark(of: referralPath)], in: namespace.id)
      built += 1
    }
    return built
  }

  /// Says that the index is whole for a path.
  static func mark(of referralPath: ReferralPath) -> KeyedRecordChange {
    KeyedRecordChange(kind: markKind, key: markKey, value: referralPath.pattern.description)
  }

  private func clear(_ namespace: NamespaceID) async throws {
    while true {
      let records = try read { snapshot in
        try snapshot.records(
          in: namespace, kind: ReferralIndex.kind, after: nil, isDescending: false, limit: Self.pageSize)
      }
      if records.isEmpty { return }
      try await put(records.map { KeyedRecordChange(kind: $0.kind, key: $0.key, value: nil) }, in: namespace)
    }
  }

  private func fill(_ namespace: NamespaceID, referralPath: ReferralPath) async throws {
    var last: Key?
    while true {
      let after = last
      let (players, changes) = try read { (snapshot) -> ([Key], [KeyedRecordChange]) in
        let players = try snapshot.children(in: namespace, of: referralPath.players, after: after, limit: Self.pageSize)
        var changes: [KeyedRecordChange] = []
        for player in players {
          guard let path = referralPath.path(of: player.text) else { continue }
          let leaf = try snapshot.leaf(in: namespace, at: path)?.leaf
          guard let referrer = ReferralPath.referrer(leaf?.scalar) else { continue }
          changes.append(ReferralIndex.record(referrer, player.text))
        }
        return (players, changes)
      }
      guard let end = players.last else { return }
      last = end
      if !changes.isEmpty { try await put(changes, in: namespace) }
    }
  }

  private func put(_ changes: [KeyedRecordChange], in namespace: NamespaceID) async throws {
    var request = CommitRequest(namespace: namespace, actor: .system("referrals"))
    request.rows.records = changes

    do throws(CommitError) {
      _ = try await writer.commit(request)
    } catch {
      throw LedgerError(error)
    }
  }

  private func read<Result>(_ body: (any Snapshot) throws -> Result) throws -> Result {
    do {
      return try engine.read(body)
    } catch let error as StorageError {
      throw LedgerError(error)
    }
  }
}
