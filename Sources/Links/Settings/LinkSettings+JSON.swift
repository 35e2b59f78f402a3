public import TreeModel

extension LinkSettings {
  /// Reads the document.
  ///
  /// - Parameter isStored: whether it was taken before, perhaps by a version that knew fewer faults.
  /// - Throws: ``LinkFault`` that names the member and says what it must be.
  public init(json: JSON, isStored: Bool = false) throws(LinkFault) {
    self.init()
    var document = try SettingsReader(json, "the settings")
    domains = try document.texts("domains").map { text throws(LinkFault) in
      guard let prefix = LinkPrefix(text) else {
        throw .invalid(
          "domains: \"\(text.prefix(100))\" must be https://HOST or https://HOST/PATH of letters, digits, - and _.")
      }
      if let first = prefix.path.split(separator: "/").first, LinkSuffix.reserved.contains(String(first)) {
        throw .invalid("domains: \(text.prefix(100)): other surfaces of this server answer below /\(first).")
      }
      return prefix
    }
    guard Set(domains).count == domains.count else { throw .invalid("domains: one of them is given twice.") }
    if var apps = try document.object("apps") {
      iosApps = try apps.objects("ios").map { app throws(LinkFault) in try Self.iosApp(app) }
      androidApps = try apps.objects("android").map { app throws(LinkFault) in try Self.androidApp(app) }
      try apps.finish()
    }
    hosts = try document.texts("hosts").map { $0.lowercased() }
    if let bad = hosts.first(where: { !LinkURL.isHost($0) }) {
      throw .invalid("hosts: \"\(bad.prefix(100))\" is no host name.")
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

  private static func iosApp(_ object: SettingsReader) throws(LinkFault) -> IOSApp {
    var object = object
    let app = IOSApp(
      bundleID: try object.required("bundleId"), appStoreID: try object.text("appStoreId"),
      appIDPrefix: try object.text("appIdPrefix"), customScheme: try object.text("customScheme")?.lowercased(),
      name: try object.text("name"))
    guard isIdentifier(app.bundleID) else { throw .invalid("apps.ios: \"\(app.bundleID.prefix(100))\" is no bundle id.") }
    if let id = app.appStoreID, !LinkChecker.isNumber(id) {
      throw .invalid("apps.ios: appStoreId \"\(id.prefix(40))\" must be digits.")
    }
    if let prefix = app.appIDPrefix, !prefix.utf8.allSatisfy({ (65...90).contains($0) || (48...57).contains($0) }) {
      throw .invalid("apps.ios: appIdPrefix \"\(prefix.prefix(40))\" must be capital letters and digits, such as TEAM12345A.")
    }
    if let scheme = app.customScheme, !LinkChecker.isSafeScheme(scheme) {
      throw .invalid("apps.ios: customScheme \"\(scheme.prefix(40))\" cannot open an app; choose one of its own.")
    }
    try object.finish()
    return app
  }

  private static func androidApp(_ object: SettingsReader) throws(LinkFault) -> AndroidApp {
    var object = object
    let app = AndroidApp(
      packageName: try object.required("packageName"),
      fingerprints: try object.texts("sha256Fingerprints").map { $0.uppercased() }, name: try object.text("name"))
    guard isIdentifier(app.packageName) else {
      throw .invalid("apps.android: \"\(app.packageName.prefix(100))\" is no package name.")
    }
    for print in app.fingerprints where !isFingerprint(print) {
      throw .invalid("apps.android: \"\(print.prefix(100))\" is no SHA-256 fingerprint: 32 pairs of digits, with colons.")
    }
    try object.finish()
    return app
  }

  private static func patterns(_ texts: [String]) throws(LinkFault) -> [URLPattern] {
    guard texts.count <= 10 else { throw .invalid("allowPatterns: \(texts.count) are given; 10 is the most.") }
    return try texts.map { text throws(LinkFault) in
      do throws(URLPattern.Fault) {
        return try URLPattern(text)
      } catch {
        throw .invalid("allowPatterns: \"\(text.prefix(100))\": \(error.message)")
      }
    }
  }

  private static func keys(_ values: [JSON]) throws(LinkFault) -> [APIKey] {
    try values.map { value throws(LinkFault) in
      if let key = value.string, !key.isEmpty { return APIKey(key: key, bundleIDs: [], methods: []) }
      var object = try SettingsReader(value, "apiKeys")
      let key = APIKey(
        key: try object.required("key"), bundleIDs: try object.texts("bundleIds"), methods: Set(try object.texts("methods")))
      guard key.methods.isSubset(of: ["create", "attribute"]) else {
        throw .invalid("apiKeys: methods are \"create\" and \"attribute\".")
      }
      try object.finish()
      return key
    }
  }

  private static func referral(_ object: SettingsReader, isStored: Bool) throws(LinkFault) -> Referral {
    var object = object
    var referral = Referral()
    if let path = try object.text("path") { referral.path = path }
    if let path = try object.text("signedInPath") { referral.signedInPath = path }
    if object.has("inviterParameters") { referral.inviterParameters = try object.texts("inviterParameters") }
    if let hours = try object.number("claimWithinHours", 0...87_600) { referral.claimWithin = hours * 3_600_000 }
    for path in [referral.path, referral.signedInPath] {
      // What can be filled with a player is open nowhere else.
      let pattern = try? PathPattern(parsing: path)
      if pattern?.captureNames == ["uid"], (try? pattern?.path(filling: ["uid"])) != nil { continue }
      // A claim says what is wrong with it, and the server that can correct it starts.
      if isStored, pattern != nil { continue }
      throw .invalid(
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

  /// What an administrator should think about.
  public var warnings: [String] {
    allowPatterns.filter { !$0.isAnchored }.map {
      "allowPatterns: \"\($0.text)\" is not anchored: without ^ it matches any URL that holds such a text anywhere, https://evil.test/?\($0.text) for instance."
    }
  }
}
