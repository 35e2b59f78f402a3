import StorageCore
import TreeModel

/// Remembers for whom rewards are paid, in the request that pays them: by the account, or by the identities of one that is gone.
struct RewardMemory {
  let reader: RunReader

  /// - Parameter rewarded: the codes of the rewards, by player.
  func remember(_ rewarded: [String: Set<String>], in request: inout CommitRequest) throws {
    // What nobody will look at is not remembered.
    guard let identities = reader.identities else { return }
    for (player, codes) in rewarded.sorted(by: { $0.key < $1.key }) {
      // An account that goes at the same moment takes along what it sees; whatever comes second must see the other.
      let place = AccountRecord.place(of: player).child(Key(unchecked: "uid"))
      let standing = try reader.latestNode(place)
      request.expectations.append(CommitRequest.Expectation(path: place, node: standing))
      let former = standing.exists ? nil : try reader.record(FormerIdentities.kind, player)
      guard let former = former.flatMap({ FormerIdentities(stored: $0) }) else {
        try add(codes, to: PaidRewards.playerKind, player, of: nil, until: nil, in: &request)
        continue
      }
      for hash in former.hashes {
        try add(
          codes, to: PaidRewards.identityKind, hash, of: identities.player(player), until: former.paidUntil, in: &request)
      }
    }
  }

  private func add(
    _ codes: Set<String>, to kind: String, _ key: String, of player: String?, until end: Int64?,
    in request: inout CommitRequest
  ) throws {
    let stored = try reader.record(kind, key)
    let before = stored.map { PaidRewards(stored: $0) } ?? PaidRewards()
    let after = before.adding(codes, of: player, until: end)
    guard after != before else { return }
    request.records.append(
      RoomChange(kind: kind, key: key, value: after.text, expecting: stored.map { .value($0) } ?? .absent))
  }
}
