/// Which room stands on which floor. A room imports lower floors only.
enum ImportRules {
  static let floors: [String: Int] = [
    "TextFormats": 0, "CSQLite": 0, "CMalloc": 0,
    "TreeModel": 1, "RewardModel": 1,
    "AccessRules": 2, "AdminModel": 2, "Credentials": 2, "FunctionsKit": 2, "MailContent": 2, "StorageCore": 2,
    "StorageSQLite": 3, "TreeDatabase": 3, "Triggers": 3, "Ledger": 3,
    "Accounts": 3, "Links": 3, "Invites": 3,
    "PlayerLifecycle": 4,
    "HTTPServer": 5, "Mail": 5, "AdminClient": 5,
    "APISupport": 6,
    "RealtimeAPI": 7, "IdentityAPI": 7, "LinksAPI": 7, "AdminAPI": 7, "ServerConfiguration": 7,
    "ServerApp": 8, "Functions": 8,
    "DoubloonCLI": 9,
    "DoubloonCommand": 10, "DoubloonTesting": 10,
  ]

  /// Rooms that may import less than their floor allows.
  static let only: [String: Set<String>] = [
    "Functions": ["FunctionsKit", "TreeModel"],
    // What speaks the wire knows no capability.
    "HTTPServer": ["Credentials", "StorageCore", "TextFormats", "TreeModel"],
    "AdminClient": ["AdminModel", "Credentials", "StorageCore", "TextFormats", "TreeModel"],
  ]

  /// Rooms of other houses, and the lowest floor that may know them.
  static let outside: [String: Int] = [
    "Logging": 3, "ServiceLifecycle": 5, "NIOCore": 5, "NIOHTTP1": 5, "NIOPosix": 5, "NIOSSL": 5, "NIOTLS": 5,
    "NIOWebSocket": 5, "ArgumentParser": 9,
  ]

  /// The one room that speaks to the database library.
  static let sqliteBuffer = "StorageSQLite"

  /// Why `room` may not import `other`; nil if it may.
  static func objection(to other: String, in room: String) -> String? {
    guard let floor = floors[room] else { return "\(room) has no place on the floor plan: add it to FloorPlan.floors" }
    if let lowest = outside[other], floor < lowest {
      return "\(other) is for floor \(lowest) and above; \(room) is on floor \(floor)"
    }
    guard let otherFloor = floors[other] else { return nil }
    if other == "CSQLite" && room != sqliteBuffer { return "only \(sqliteBuffer) speaks to SQLite" }
    if let only = only[room], floors[other] != nil, !only.contains(other) {
      return "\(room) imports \(only.sorted().joined(separator: ", ")) only"
    }
    if otherFloor < floor { return nil }
    return otherFloor == floor
      ? "\(room) and \(other) are rooms of floor \(floor): they meet by a protocol of a lower floor"
      : "\(other) is on floor \(otherFloor), above \(room) on floor \(floor)"
  }
}

/// A target as `Package.swift` declares it.
struct DeclaredTarget {
  enum Kind: String, CaseIterable {
    case target, executableTarget, testTarget, systemLibrary
  }

  let kind: Kind
  let name: String
  let dependencies: [String]
  /// Whether its folder is below `Tests`: what tests share.
  let isForTests: Bool
  let line: Int

  /// The targets of a manifest's text, which is read, not run.
  static func all(in manifest: String) -> [DeclaredTarget] {
    guard let start = manifest.utf8Range(of: "  targets: [") else { return [] }
    let skippedLines = manifest[..<start].count { $0 == "\n" }
    var found: [DeclaredTarget] = []
    var rest = manifest[start...]
    while let next = Kind.allCases.compactMap({ kind in rest.utf8Range(of: ".\(kind.rawValue)(").map { ($0, kind) } }).min(by: {
      $0.0 < $1.0
    }) {
      let call = balanced(rest[next.0...], "(", ")")
      let line = skippedLines + manifest[start..<next.0].count { $0 == "\n" }
      let strings = quoted(call)
      var dependencies: [String] = []
      if let list = call.utf8Range(of: "dependencies: [") { dependencies = quoted(balanced(call[list...], "[", "]")) }
      if let name = strings.first {
        let isForTests = next.1 == .testTarget || strings.contains { $0.hasPrefix("Tests/") }
        found.append(
          DeclaredTarget(kind: next.1, name: name, dependencies: dependencies, isForTests: isForTests, line: line))
      }
      rest = rest[call.endIndex...]
    }
    return found
  }

  /// From the start to the bracket that closes the first one.
  private static func balanced(_ text: Substring, _ open: Character, _ close: Character) -> Substring {
    var depth = 0
    for index in text.indices {
      if text[index] == open { depth += 1 }
      if text[index] == close {
        depth -= 1
        if depth == 0 { return text[...index] }
      }
    }
    return text
  }

  private static func quoted(_ text: Substring) -> [String] {
    text.split(separator: "\"", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map {
      String($0.element)
    }
  }
}

extension StringProtocol {
  /// Where `text` begins.
  func utf8Range(of text: String) -> Index? {
    let needle = Array(text.utf8)
    return utf8.indices.first { utf8[$0...].starts(with: needle) }
  }
}
