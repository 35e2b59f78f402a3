package import StorageCore
import TreeModel

/// Makes the index of who brought whom from the tree once more, and compares: what ``ReferralIndex`` keeps must say nothing else.
///
/// Two passes of point look-ups, in pages, so memory does not grow with the number of players.
package struct ReferralAudit {
  private static let pageSize = 1000
  private static let messagesMax = 20

  private let referralPath: ReferralPath
  private let snapshot: any Snapshot
  private let namespace: NamespaceID
  /// Players whose referrer the tree names.
  package private(set) var referrals: Int64 = 0
  /// What is wrong, in sentences; the first of them.
  package private(set) var messages: [String] = []
  /// How many there are altogether.
  package private(set) var faultCount = 0

  /// Audits the index of a namespace as it is in the snapshot.
  ///
  /// - `referralPath`: where the tree says who referred a player, as declared since before the namespace was written.
  /// - Throws: `StorageError` if the store cannot be read.
  package static func verify(_ snapshot: any Snapshot, namespace: NamespaceID, referralPath: ReferralPath) throws
    -> ReferralAudit
  {
    var audit = ReferralAudit(referralPath: referralPath, snapshot: snapshot, namespace: namespace)
    try audit.checkTree()
    try audit.checkIndex()
    return audit
  }

  private init(referralPath: ReferralPath, snapshot: any Snapshot, namespace: NamespaceID) {
    self.referralPath = referralPath
    self.snapshot = snapshot
    self.namespace = namespace
  }

  /// Each player of whom the tree names a referrer is in the index.
  private mutating func checkTree() throws {
    var last: Key?
    while true {
      let players = try snapshot.children(in: namespace, of: referralPath.players, after: last, limit: Self.pageSize)
      for player in players.map(\.text) {
        guard let referrer = try referrer(of: player) else { continue }
        referrals += 1
        let record = ReferralIndex.record(referrer, player)
        if try snapshot.record(in: namespace, kind: record.kind, key: record.key) != record.value {
          note("The index of referrals does not say that \(referrer) brought \(player), as the tree does.")
        }
      }
      if players.count < Self.pageSize { return }
      last = players.last
    }
  }

  /// And nobody else does.
  private mutating func checkIndex() throws {
    var last: String?
    while true {
      let page = try snapshot.records(
        in: namespace, kind: ReferralIndex.kind, after: last, isDescending: false, limit: Self.pageSize)
      for record in page {
        if let (referrer, player) = ReferralIndex.players(in: record.key),
          let told = try self.referrer(of: player), told.utf8.elementsEqual(referrer.utf8)
        {
          continue
        }
        note("The index of referrals has \(record.key) (who brought whom), which the tree does not say.")
      }
      if page.count < Self.pageSize { return }
      last = page.last?.key
    }
  }

  private func referrer(of player: String) throws -> String? {
    guard let path = referralPath.path(of: player) else { return nil }
    return ReferralPath.referrer(try snapshot.leaf(in: namespace, at: path)?.leaf.scalar)
  }

  private mutating func note(_ message: String) {
    faultCount += 1
    if messages.count < Self.messagesMax { messages.append(message) }
  }
}
