/// Which target is on which layer. A target imports lower layers only.
enum ImportRules {
  /// The layers from the bottom up, each with its targets.
  private static let plan: [(purpose: String, targets: [String])] = [
    ("text and the system", ["TextFormats", "CBuild", "CConsoleAssets", "CSQLite", "CMalloc"]),
    ("values", ["TreeModel", "RewardModel"]),
    (
      "languages and contracts",
      ["AccessRules", "AdminModel", "ClientRuntime", "Credentials", "FunctionsKit", "MailContent", "StorageCore", "SyncModel"]
    ),
    (
      "capabilities",
      [
        "StorageSQLite", "StoragePostgres", "TreeDatabase", "Triggers", "Ledger", "Accounts", "Links", "Invites", "Messages",
        "ClientApple",
        "ClientLink", "ClientNIO",
      ]
    ),
    ("use cases of several capabilities, and the library for games", ["Backups", "PlayerLifecycle", "Doubloon"]),
    ("the network", ["HTTPServer", "Mail", "AdminClient"]),
    ("what the surfaces share", ["APISupport"]),
    (
      "surfaces, and the configuration",
      ["RealtimeAPI", "IdentityAPI", "LinksAPI", "MessagesAPI", "AdminAPI", "WebConsole", "ServerConfiguration"]
    ),
    ("composition, and the deployment's functions", ["ServerApp", "Functions"]),
    ("commands", ["DoubloonCLI"]),
    ("products", ["DoubloonCommand", "DoubloonTesting"]),
  ]

  /// The layer of each target, from 0.
  static let layers: [String: Int] = Dictionary(
    uniqueKeysWithValues: plan.enumerated().flatMap { layer, row in row.targets.map { ($0, layer) } })

  /// The targets that know no wire: all up to the use cases, and no system library.
  static let domain: Set<String> = Set(plan.prefix(5).flatMap(\.targets)).subtracting([
    "CBuild", "CConsoleAssets", "CSQLite", "CMalloc",
  ]).subtracting(client)

  /// The games' side. The server imports nothing of it, and it imports nothing of the server but values.
  static let client: Set<String> = ["ClientApple", "ClientLink", "ClientNIO", "ClientRuntime", "Doubloon", "SyncModel"]
  /// What both sides know.
  private static let values: Set<String> = ["TextFormats", "TreeModel"]

  /// Targets that may import less than their layer allows.
  static let only: [String: Set<String>] = [
    "Functions": ["FunctionsKit", "TreeModel"],
    // What speaks the wire knows no capability.
    "HTTPServer": ["Credentials", "StorageCore", "TextFormats", "TreeModel"],
    "AdminClient": ["AdminModel", "Credentials", "StorageCore", "TextFormats", "TreeModel"],
  ]

  /// Modules of other packages, and the lowest layer that may import them.
  static let packages: [String: Int] = {
    let (capabilities, network, commands) = (3, 5, 9)
    return [
      "Logging": capabilities, "ServiceLifecycle": network, "NIOCore": network, "NIOHTTP1": network, "NIOPosix": network,
      "NIOSSL": network, "NIOTLS": network, "NIOWebSocket": network, "ArgumentParser": commands,
    ]
  }()

  /// The one target that speaks to the database library.
  static let databaseTarget = "StorageSQLite"

  /// Why `target` may not import `other`; nil if it may.
  static func objection(to other: String, in target: String) -> String? {
    guard let layer = layers[target] else { return "\(target) is on no layer: add it to ImportRules.layers" }
    if let lowest = packages[other], layer < lowest, target != "ClientNIO" {
      return "\(other) is for layer \(lowest) and above; \(target) is on layer \(layer)"
    }
    guard let otherLayer = layers[other] else { return nil }
    if client.contains(target) && !client.union(values).contains(other) {
      return "\(target) is the games' side, \(other) the server's"
    }
    if client.contains(other) && !client.contains(target) { return "\(other) is for games; \(target) is of the server" }
    if other == "CSQLite" && target != databaseTarget { return "only \(databaseTarget) speaks to SQLite" }
    if let only = only[target], !only.contains(other) {
      return "\(target) imports \(only.sorted().joined(separator: ", ")) only"
    }
    if otherLayer < layer { return nil }
    return otherLayer == layer
      ? "\(target) and \(other) are on layer \(layer): they meet by a protocol of a lower layer"
      : "\(other) is on layer \(otherLayer), above \(target) on layer \(layer)"
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
