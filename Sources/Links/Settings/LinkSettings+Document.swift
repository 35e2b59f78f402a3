import TreeModel

extension LinkSettings {
  /// The settings as one JSON document, defaults included: what is stored, and what the configuration file holds.
  package var document: String { json.compactText }

  private var json: JSON {
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

extension LinkSettings {
  /// Reads a JSON document.
  ///
  /// - Parameters:
  ///   - text: the document, with a member for each setting that is not the default.
  ///   - isStored: whether it was accepted before, perhaps by a version that checked less.
  /// - Throws: ``LinkError/invalid(_:)``, which names the member and says what it must be.
  package init(document text: String, isStored: Bool = false) throws {
    let json: JSON
    do {
      json = try JSONParser.parse(text)
    } catch {
      throw LinkError.invalid("The settings are no JSON: \(error)")
    }
    self.init()
    var document = try SettingsReader(json, of: "the settings")
    domains = try document.texts("domains").map { text in
      guard let prefix = LinkPrefix(text) else {
        throw LinkError.invalid(
          "domains: \"\(text.prefix(100))\" must be https://HOST or https://HOST/PATH of letters, digits, - and _.")
      }
      if let first = prefix.path.split(separator: "/").first, LinkSuffix.reserved.contains(String(first)) {
        throw LinkError.invalid("domains: \(text.prefix(100)): other surfaces of this server answer below /\(first).")
      }
      return prefix
    }
    guard Set(domains).count == domains.count else { throw LinkError.invalid("domains: one of them is given twice.") }
    if var apps = try document.object("apps") {
      iosApps = try apps.objects("ios").map(Self.iosApp)
      androidApps = try apps.objects("android").map(Self.androidApp)
      try apps.finish()
    }
    hosts = try document.texts("hosts").map { $0.lowercased() }
    if let bad = hosts.first(where: { !LinkURL.isHost($0) }) {
      throw LinkError.invalid("hosts: \"\(bad.prefix(100))\" is no host name.")
    }
    allowPatterns = try Self.patterns(document.texts("allowPatterns"))
    apiKeys = try Self.keys(document.values("apiKeys"))
    if let object = try document.object("referral") { referral = try Self.referral(object, isStored: isStored) }
    if var object = try document.object("heuristics") {
      heuristics.isEnabled = try object.flag("enabled") ?? false
      heuristics.window = try (object.number("windowHours", 1...24) ?? 24) * 3_600_000
      try object.finish()
    }
    if var object = try document.object("limits") {
      limits.createPerSecond = Int(try object.number("createPerSecond", 1...1_000_000) ?? 5)
      limits.createPerDay = Int(try object.number("createPerDay", 1...1_000_000_000) ?? 200_000)
      limits.codesPerMinute = Int(try object.number("codesPerMinute", 1...10_000) ?? 5)
      try object.finish()
    }
    clickLifetime = try (document.number("clickDays", 1...3650) ?? 90) * 86_400_000
    try document.finish()
  }

  private static func iosApp(_ object: SettingsReader) throws -> IOSApp {
    var object = object
    let app = IOSApp(
      bundleID: try object.required("bundleId"), appStoreID: try object.text("appStoreId"),
      appIDPrefix: try object.text("appIdPrefix"), customScheme: try object.text("customScheme")?.lowercased(),
      name: try object.text("name"))
    guard isIdentifier(app.bundleID) else {
      throw LinkError.invalid("apps.ios: \"\(app.bundleID.prefix(100))\" is no bundle id.")
    }
    if let id = app.appStoreID, !LinkChecker.isNumber(id) {
      throw LinkError.invalid("apps.ios: appStoreId \"\(id.prefix(40))\" must be digits.")
    }
    if let prefix = app.appIDPrefix, !prefix.utf8.allSatisfy({ (65...90).contains($0) || (48...57).contains($0) }) {
      throw LinkError.invalid(
        "apps.ios: appIdPrefix \"\(prefix.prefix(40))\" must be capital letters and digits, such as TEAM12345A.")
    }
    if let scheme = app.customScheme, !LinkChecker.isSafeScheme(scheme) {
      throw LinkError.invalid("apps.ios: customScheme \"\(scheme.prefix(40))\" cannot open an app; choose one of its own.")
    }
    try object.finish()
    return app
  }

  private static func androidApp(_ object: SettingsReader) throws -> AndroidApp {
    var object = object
    let app = AndroidApp(
      packageName: try object.required("packageName"),
      fingerprints: try object.texts("sha256Fingerprints").map { $0.uppercased() }, name: try object.text("name"))
    guard isIdentifier(app.packageName) else {
      throw LinkError.invalid("apps.android: \"\(app.packageName.prefix(100))\" is no package name.")
    }
    for print in app.fingerprints where !isFingerprint(print) {
      throw LinkError.invalid(
        "apps.android: \"\(print.prefix(100))\" is no SHA-256 fingerprint: 32 pairs of digits, with colons.")
    }
    try object.finish()
    return app
  }

  private static func patterns(_ texts: [String]) throws -> [URLPattern] {
    guard texts.count <= 10 else { throw LinkError.invalid("allowPatterns: \(texts.count) are given; 10 is the most.") }
    return try texts.map { text in
      do throws(URLPatternError) {
        return try URLPattern(text)
      } catch {
        throw LinkError.invalid("allowPatterns: \"\(text.prefix(100))\": \(error.message)")
      }
    }
  }

  private static func keys(_ values: [JSON]) throws -> [APIKey] {
    try values.map { value in
      if let key = value.string, !key.isEmpty { return APIKey(key: key, bundleIDs: [], methods: []) }
      var object = try SettingsReader(value, of: "apiKeys")
      let key = APIKey(
        key: try object.required("key"), bundleIDs: try object.texts("bundleIds"), methods: Set(try object.texts("methods")))
      guard key.methods.isSubset(of: ["create", "attribute", "messages"]) else {
        throw LinkError.invalid("apiKeys: methods are \"create\", \"attribute\" and \"messages\".")
      }
      try object.finish()
      return key
    }
  }

  private static func referral(_ object: SettingsReader, isStored: Bool) throws -> Referral {
    var object = object
    var referral = Referral()
    if let path = try object.text("path") { referral.path = path }
    if let path = try object.text("signedInPath") { referral.signedInPath = path }
    if object.has("inviterParameters") { referral.inviterParameters = try object.texts("inviterParameters") }
    if let hours = try object.number("claimWithinHours", 0...87_600) { referral.claimWithin = hours * 3_600_000 }
    for path in [referral.path, referral.signedInPath] {
      // A pattern that captures the player must have no other capture.
      let pattern = try? PathPattern(parsing: path)
      if pattern?.captureNames == ["uid"], (try? pattern?.path(filling: ["uid"])) != nil { continue }
      // A stored path must not keep the server from starting, since it is corrected through the server: a claim reports it.
      if isStored, pattern != nil { continue }
      throw LinkError.invalid(
        "referral: \"\(path.prefix(100))\" must be a path with {uid} in it, open nowhere else: /users/{uid}/referred_by.")
    }
    try object.finish()
    return referral
  }

  /// Parts of letters, digits, hyphens and underscores, separated by dots: what bundle ids and package names are.
  static func isIdentifier(_ text: String) -> Bool {
    text.utf8.count <= 155
      && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { LinkSuffix.isSegment($0) }
  }

  private static func isFingerprint(_ text: String) -> Bool {
    let pairs = text.split(separator: ":", omittingEmptySubsequences: false)
    return pairs.count == 32 && pairs.allSatisfy { $0.utf8.count == 2 && UInt8($0, radix: 16) != nil }
  }

  /// Warnings for administrators.
  package var warnings: [String] {
    allowPatterns.filter { !$0.isAnchored }.map {
      "allowPatterns: \"\($0.text)\" is not anchored: without ^ it matches any URL that holds such a text anywhere, https://evil.test/?\($0.text) for instance."
    }
  }
}

/// Reads a JSON object member by member, and finds those that were not read.
struct SettingsReader {
  private let members: [JSON.Member]
  /// What errors call the object.
  private let name: String
  private var seen: Set<String> = []

  init(_ json: JSON, of name: String) throws {
    guard let members = json.object else { throw LinkError.invalid("\(name) must be a JSON object.") }
    self.members = members
    self.name = name
  }

  func has(_ name: String) -> Bool { members.contains { $0.key == name } }

  /// The value of a member; nil if it is missing or null.
  mutating func value(_ name: String) -> JSON? {
    seen.insert(name)
    guard let value = members.last(where: { $0.key == name })?.value, !value.isNull else { return nil }
    return value
  }

  mutating func text(_ name: String) throws -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.string, text.utf8.count <= 4096 else {
      throw LinkError.invalid("\(self.name): \(name) must be a text.")
    }
    return text.isEmpty ? nil : text
  }

  mutating func required(_ name: String) throws -> String {
    guard let text = try text(name) else { throw LinkError.invalid("\(self.name): \(name) is missing.") }
    return text
  }

  mutating func flag(_ name: String) throws -> Bool? {
    guard let value = value(name) else { return nil }
    guard let flag = value.bool else { throw LinkError.invalid("\(self.name): \(name) must be true or false.") }
    return flag
  }

  mutating func number(_ name: String, _ range: ClosedRange<Int64>) throws -> Int64? {
    guard let value = value(name) else { return nil }
    guard let number = value.int, range.contains(number) else {
      throw LinkError.invalid("\(self.name): \(name) must be an integer from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  mutating func values(_ name: String) throws -> [JSON] {
    guard let value = value(name) else { return [] }
    guard let list = value.array, list.count <= 1000 else {
      throw LinkError.invalid("\(self.name): \(name) must be a list, of 1000 at most.")
    }
    return list
  }

  mutating func texts(_ name: String) throws -> [String] {
    let object = self.name
    return try values(name).map { value in
      guard let text = value.string, !text.isEmpty, text.utf8.count <= 4096 else {
        throw LinkError.invalid("\(object): \(name) must hold texts that are not empty.")
      }
      return text
    }
  }

  mutating func object(_ name: String) throws -> SettingsReader? {
    guard let value = value(name) else { return nil }
    return try SettingsReader(value, of: name)
  }

  mutating func objects(_ name: String) throws -> [SettingsReader] {
    try values(name).map { value in try SettingsReader(value, of: name) }
  }

  /// Refuses members that were not read.
  func finish() throws {
    guard let unknown = members.first(where: { !seen.contains($0.key) }) else { return }
    throw LinkError.invalid(
      "\(self.name): there is no \"\(unknown.key.prefix(80))\"; there is \(seen.sorted().joined(separator: ", ")).")
  }
}
