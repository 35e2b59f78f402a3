public import TreeModel

extension LinkSettings {
  /// The whole document, defaults included.
  public var json: JSON {
    [
      "domains": .array(domains.map { .string($0.description) }),
      "apps": [
        "ios": .array(
          iosApps.map {
            .present([
              ("bundleId", $0.bundleID), ("appStoreId", $0.appStoreID), ("appIdPrefix", $0.appIDPrefix),
              ("customScheme", $0.customScheme), ("name", $0.name),
            ])
          }),
        "android": .array(
          androidApps.map { app in
            var members = [
              JSON.Member(key: "packageName", value: .string(app.packageName)),
              JSON.Member(key: "sha256Fingerprints", value: .array(app.fingerprints.map(JSON.string))),
            ]
            if let name = app.name { members.append(JSON.Member(key: "name", value: .string(name))) }
            return .object(members)
          }),
      ],
      "hosts": .array(hosts.map(JSON.string)),
      "allowPatterns": .array(allowPatterns.map { .string($0.text) }),
      "apiKeys": .array(
        apiKeys.map {
          [
            "key": .string($0.key), "bundleIds": .array($0.bundleIDs.map(JSON.string)),
            "methods": .array($0.methods.sorted().map(JSON.string)),
          ]
        }),
      "referral": [
        "path": .string(referral.path), "signedInPath": .string(referral.signedInPath),
        "inviterParameters": .array(referral.inviterParameters.map(JSON.string)),
        "claimWithinHours": .int(referral.claimWithin / 3_600_000),
      ],
      "heuristics": ["enabled": .bool(heuristics.isEnabled), "windowHours": .int(heuristics.window / 3_600_000)],
      "limits": [
        "createPerSecond": .int(Int64(limits.createPerSecond)), "createPerDay": .int(Int64(limits.createPerDay)),
        "codesPerMinute": .int(Int64(limits.codesPerMinute)),
      ],
      "clickDays": .int(clickLifetime / 86_400_000),
    ]
  }
}

extension JSON {
  /// An object of the texts that are there.
  static func present(_ members: [(String, String?)]) -> JSON {
    .object(members.compactMap { name, value in value.map { Member(key: name, value: .string($0)) } })
  }
}
