package import TreeModel

extension AdminLinks {
  /// Of which link a picture is wanted.
  package struct CodeQuery: AdminValue {
    package var link: String
    package var format: String?
    package var scale: Int64?

    package init(link: String, format: String? = nil, scale: Int64? = nil) {
      self.link = link
      self.format = format
      self.scale = scale
    }

    package static let notes: [String: FieldNote] = [
      "link": .only(.filled, text: "A short link, with or without https://."),
      "format": .only(.choice(["svg", "png"]), text: "svg if it is not given."),
      "scale": .only(.integer(3...64), text: "Pixels of a module, for png; 8 if it is not given."),
    ]
  }

  /// Whose claim is wanted.
  package struct ClaimQuery: AdminValue {
    package var uid: String

    package init(uid: String) {
      self.uid = uid
    }

    package static let notes: [String: FieldNote] = [
      "uid": .only(.form(JSONSchema.keyForm), text: "The player.")
    ]
  }

  /// How a player came.
  package struct Claim: AdminValue {
    package var uid: String
    package var claim: Nullable<AdminLedger.ReferralEvidence>

    package init(uid: String, claim: AdminLedger.ReferralEvidence?) {
      self.uid = uid
      self.claim = Nullable(claim)
    }

    package static let notes: [String: FieldNote] = [
      "claim": .only(.nullable(.object([])))
    ]
  }

  /// New settings.
  package struct SettingsOrder: AdminValue {
    /// Https://HOST or https://HOST/PATH.
    package var domains: [String]?
    /// Ios: bundleId, appStoreId, appIdPrefix, customScheme, name; android: packageName, sha256Fingerprints, name.
    package var apps: JSON?
    /// Hosts that links may lead to, where there are no patterns.
    package var hosts: [String]?
    /// At most ten regular expressions (RE2).
    package var allowPatterns: [String]?
    /// Texts, or objects of key, bundleIds, methods.
    package var apiKeys: [JSON]?
    /// Path, signedInPath, inviterParameters, claimWithinHours.
    package var referral: JSON?
    /// Enabled, windowHours.
    package var heuristics: JSON?
    /// CreatePerSecond, createPerDay, codesPerMinute.
    package var limits: JSON?
    /// How long the proof of a click is good.
    package var clickDays: Int64?
    /// What an answer warned of; ignored.
    package var warnings: [String]?

    package static let notes: [String: FieldNote] = [
      "domains": .text("https://HOST or https://HOST/PATH"),
      "apps": .only(
        .object([]),
        text: "ios: bundleId, appStoreId, appIdPrefix, customScheme, name; android: packageName, sha256Fingerprints, name"),
      "hosts": .text("hosts that links may lead to, where there are no patterns"),
      "allowPatterns": .text("at most ten regular expressions (RE2)"),
      "apiKeys": .text("texts, or objects of key, bundleIds, methods"),
      "referral": .only(.object([]), text: "path, signedInPath, inviterParameters, claimWithinHours"),
      "heuristics": .only(.object([]), text: "enabled, windowHours"),
      "limits": .only(.object([]), text: "createPerSecond, createPerDay, codesPerMinute"),
      "clickDays": .only(.integer(1...3650), text: "how long the proof of a click is good"),
      "warnings": .text("what an answer warned of; ignored"),
    ]
  }

  /// The settings of links.
  package struct Settings: AdminValue {
    package var domains: [String]
    package var apps: JSON
    package var hosts: [String]
    package var allowPatterns: [String]
    package var apiKeys: [JSON]
    package var referral: JSON
    package var heuristics: JSON
    package var limits: JSON
    package var clickDays: Int64
    package var warnings: [String]

    package static let notes: [String: FieldNote] = [
      "apps": .only(.object([.always("ios", schema: .list(.any)), .always("android", schema: .list(.any))])),
      "referral": .only(.object([])),
      "heuristics": .only(.object([])),
      "limits": .only(.object([])),
    ]
  }
}
