public import StorageCore

extension AccountBook {
  /// How many records one look reads.
  private static let page = 1000

  /// Forgets the identities of players who were paid and left when their time is over.
  public func forgetPaidIdentities(in project: AccountProject) async throws {
    let now = clock.now()
    try await forget(PaidRewards.identityKind, in: project) { (PaidRewards(stored: $0).until ?? .max) <= now }
    // What cannot be read is of no use.
    try await forget(FormerIdentities.kind, in: project) { (FormerIdentities(stored: $0)?.until ?? 0) <= now }
  }

  private func forget(_ kind: String, in project: AccountProject, where isOver: (String) -> Bool) async throws {
    var last: String?
    while true {
      let after = last
      let records = try look { (snapshot) throws(StorageError) in
        try snapshot.records(
          in: project.namespace, kind: kind, after: after, isDescending: false, limit: Self.page)
      }
      var request = CommitRequest(namespace: project.namespace, actor: .system("account-sweep"))
      request.records = records.filter { isOver($0.value) }.map {
        RoomChange(kind: $0.kind, key: $0.key, value: nil, expecting: .value($0.value))
      }
      if !request.records.isEmpty {
        let result = await withCheckedContinuation { [request] continuation in
          writer.submit(request) { continuation.resume(returning: $0) }
        }
        _ = try result.get()
      }
      guard records.count == Self.page else { return }
      last = records.last?.key
    }
  }

  /// How many identities of an account would be remembered if it were deleted now: none of one that no reward was paid for.
  public func rememberedIdentities(of record: AccountRecord, in namespace: NamespaceID, _ snapshot: any Snapshot)
    throws(StorageError) -> Int
  {
    guard let identities = options.identities, options.paidIdentityLifetime != nil,
      try snapshot.record(in: namespace, kind: PaidRewards.playerKind, key: record.uid) != nil
    else { return 0 }
    return identities.hashes(of: record).count
  }
}
