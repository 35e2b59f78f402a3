package import TreeModel

/// To whom a campaign speaks: all that is given must hold, and what is not known of a client does not.
package struct MessageAudience: Sendable, Hashable {
  /// `ios`, `android`, `web`, and whatever else apps call theirs.
  package var platforms: [String]?
  /// App ids or bundle ids.
  package var apps: [String]?
  package var appVersion: VersionCondition?
  package var osVersion: VersionCondition?
  /// Language tags: `pt` means every Portuguese.
  package var languages: [String]?
  /// IANA names.
  package var timeZones: [String]?
  /// Days since the instance was first seen.
  package var firstSeenDays: Comparison?
  /// How often the app was started.
  package var sessions: Comparison?
  package var player: PlayerAudience?
  package var tree: [TreeCondition] = []
  /// Of 10,000.
  package var share = 10_000

  /// Whether it cannot be judged without a player.
  var needsPlayer: Bool { player != nil || !tree.isEmpty }
}

/// What must be true of the player.
package struct PlayerAudience: Sendable, Hashable {
  package var anonymous: Bool?
  package var uids: [String]?
  /// Days since the account was made.
  package var createdDays: Comparison?
  /// Whether somebody invited the player.
  package var referred: Bool?
  /// Who did.
  package var inviter: String?
}

/// What must stand at a place of the tree, where `{uid}` is the player.
package struct TreeCondition: Sendable, Hashable {
  package let path: PathPattern
  package let comparison: Comparison

  package static func == (a: TreeCondition, b: TreeCondition) -> Bool {
    a.path.description == b.path.description && a.comparison == b.comparison
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(path.description)
    hasher.combine(comparison)
  }
}

extension MessageAudience {
  private static let members = [
    "platforms", "apps", "appVersion", "osVersion", "languages", "timeZones", "instance", "player", "tree", "percent",
  ]
  /// Places of the tree that one campaign may look at.
  static let treeMax = 5

  /// Reads the member `audience`; everybody if it is missing.
  init(_ parent: DocumentReader, zones: any ZoneReading) {
    self.init()
    guard let reader = parent.object("audience", known: Self.members) else { return }
    platforms = Self.list(reader, named: "platforms")?.map { $0.lowercased() }
    apps = Self.list(reader, named: "apps")
    languages = Self.list(reader, named: "languages")
    timeZones = Self.list(reader, named: "timeZones")
    for (index, language) in (languages ?? []).enumerated() where !LanguageRange.isTag(language) {
      reader.faults.refuse(
        "BAD_LANGUAGE", at: "\(reader.place("languages"))[\(index)]",
        "\(language.prefix(40)) is no language tag, such as pt-BR.")
    }
    for (index, zone) in (timeZones ?? []).enumerated() where zones.zone(named: zone) == nil {
      reader.faults.refuse(
        "BAD_TIME", at: "\(reader.place("timeZones"))[\(index)]", "There is no time zone \(zone.prefix(60)).")
    }
    appVersion = reader.value("appVersion").flatMap {
      VersionCondition.read($0, at: reader.place("appVersion"), faults: reader.faults)
    }
    osVersion = reader.value("osVersion").flatMap {
      VersionCondition.read($0, at: reader.place("osVersion"), faults: reader.faults)
    }
    readInstance(reader)
    readPlayer(reader)
    readTree(reader)
    readShare(reader)
  }

  private static func list(_ reader: DocumentReader, named name: String) -> [String]? {
    let texts = reader.texts(name, count: 0...200)
    if texts?.isEmpty == true {
      reader.faults.warn(
        "REACHES_NOBODY", at: reader.place(name), "An empty list reaches nobody; leave \"\(name)\" out for everybody.")
    }
    return texts
  }

  private mutating func readInstance(_ parent: DocumentReader) {
    guard let reader = parent.object("instance", known: ["firstSeen", "sessions"]) else { return }
    if let seen = reader.object("firstSeen", known: ["days"]) {
      firstSeenDays = seen.value("days").flatMap {
        Comparison.read($0, at: seen.place("days"), operands: .numbers, faults: seen.faults)
      }
    }
    sessions = reader.value("sessions").flatMap {
      Comparison.read($0, at: reader.place("sessions"), operands: .numbers, faults: reader.faults)
    }
  }

  private mutating func readPlayer(_ parent: DocumentReader) {
    let known = ["anonymous", "uids", "createdDays", "referred", "inviter"]
    guard let reader = parent.object("player", known: known) else { return }
    var player = PlayerAudience()
    player.anonymous = reader.flag("anonymous")
    player.uids = reader.texts("uids", count: 0...1000, length: 128)
    if player.uids?.isEmpty == true {
      reader.faults.warn("REACHES_NOBODY", at: reader.place("uids"), "An empty list reaches nobody.")
    }
    player.createdDays = reader.value("createdDays").flatMap {
      Comparison.read($0, at: reader.place("createdDays"), operands: .numbers, faults: reader.faults)
    }
    player.referred = reader.flag("referred")
    player.inviter = reader.text("inviter", length: 1...128)
    self.player = player
  }

  private mutating func readTree(_ parent: DocumentReader) {
    for element in parent.list("tree", count: 0...Self.treeMax) ?? [] {
      let known = ["path"] + Comparison.Operator.allCases.map(\.rawValue)
      guard let reader = DocumentReader(element.json, at: element.path, known: known, faults: parent.faults) else { continue }
      guard let path = PlayerPath.read(reader, named: "path") else { continue }
      let terms = (element.json.object ?? []).filter { $0.key != "path" }
      guard let comparison = Comparison.read(.object(terms), at: element.path, faults: parent.faults) else { continue }
      tree.append(TreeCondition(path: path, comparison: comparison))
      if !path.captureNames.contains("uid") {
        parent.faults.warn(
          "REACHES_NOBODY", at: element.path, "The path names no player: with {uid} it is read for each, without for all alike."
        )
      }
    }
  }

  private mutating func readShare(_ reader: DocumentReader) {
    guard let value = reader.value("percent") else { return }
    guard let percent = value.double, percent >= 0, percent <= 100 else {
      return reader.refuse("OUT_OF_RANGE", at: "percent", "\"percent\" must be 0 to 100.")
    }
    share = Int(percent * 100)
    if share == 0 { reader.faults.warn("REACHES_NOBODY", at: reader.place("percent"), "0 percent reaches nobody.") }
  }
}

/// Paths of the tree in documents: `/users/{uid}/level`, where `{uid}` is the only name that stands for something.
enum PlayerPath {
  static func read(_ reader: DocumentReader, named name: String) -> PathPattern? {
    guard let text = reader.text(name, length: 2...500) else {
      if !reader.has(name) { reader.refuse("MISSING", at: name, "\"\(name)\" is missing, such as \"/users/{uid}/level\".") }
      return nil
    }
    guard let pattern = try? PathPattern(parsing: text), pattern.captureNames.allSatisfy({ $0 == "uid" }),
      pattern.segments.allSatisfy({ if case .literal = $0 { true } else { $0 == .single(name: "uid") } })
    else {
      reader.refuse("BAD_VALUE", at: name, "It must be a path of the tree, in which only {uid} stands for something.")
      return nil
    }
    return pattern
  }

  /// The place of a player.
  static func place(_ pattern: PathPattern, uid: String) -> Path? {
    try? pattern.path(filling: pattern.captureNames.map { _ in uid })
  }
}

/// Language tags (BCP 47), and how they match.
package enum LanguageRange {
  /// Whether a text has the form of a tag.
  package static func isTag(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard let first = parts.first, (2...8).contains(first.utf8.count), first.utf8.count != 4, text.utf8.count <= 35 else {
      return false
    }
    let isAlphabetic = first.utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }
    return isAlphabetic
      && parts.dropFirst().allSatisfy { part in
        (1...8).contains(part.utf8.count)
          && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A) }
      }
  }

  /// A tag as it is compared: small letters, with hyphens, as Android's clients write underscores.
  package static func normalized(_ tag: String) -> String {
    String(String.UnicodeScalarView(tag.lowercased().unicodeScalars.map { $0 == "_" ? "-" : $0 }))
  }

  /// Whether a language is one of a range: `pt-BR` is of `pt`, not the other way.
  package static func matches(_ language: String, range: String) -> Bool {
    let (language, range) = (normalized(language), normalized(range))
    return language == range || language.hasPrefix(range + "-")
  }
}
