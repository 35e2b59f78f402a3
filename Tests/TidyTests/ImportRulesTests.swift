import Testing

/// The import graph is the plan of the house: one write walks down the floors and up again.
@Suite struct ImportRulesTests {
  static let targets = DeclaredTarget.all(in: Repository.text(of: "Package.swift"))
  static let rooms = targets.filter { !$0.isForTests }

  /// Rooms without a test target of their own, and what tests them.
  static let testedElsewhere: [String: String] = [
    "CSQLite": "a module map; StorageSQLiteTests go through it",
    "CMalloc": "a header; the stage hostile measures what it gives back",
    "DoubloonTesting": "FunctionsTests and Examples/OwnGame are written with it",
    "DoubloonCommand": "the stages of Scripts/test start the program itself",
  ]

  @Test("Package.swift and the floor plan name the same rooms")
  func plan() {
    #expect(Set(Self.rooms.map(\.name)) == Set(ImportRules.floors.keys))
  }

  @Test("every dependency in Package.swift goes downwards")
  func dependencies() {
    let found = Self.rooms.flatMap { room in
      room.dependencies.compactMap { ImportRules.objection(to: $0, in: room.name) }
        .map { Finding(path: "Package.swift", line: room.line + 1, message: $0) }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("every import goes downwards, and is declared")
  func imports() {
    let declared = Dictionary(Self.rooms.map { ($0.name, Set($0.dependencies)) }, uniquingKeysWith: { first, _ in first })
    var found: [Finding] = []
    for file in Repository.sources {
      let room = String(file.target)
      for (line, text) in file.code.enumerated() {
        guard let module = Self.importedModule(text) else { continue }
        if let objection = ImportRules.objection(to: module, in: room) { found.append(file.finding(line, objection)) }
        if ImportRules.floors[module] != nil, declared[room]?.contains(module) != true {
          found.append(file.finding(line, "\(room) does not list \(module) in Package.swift"))
        }
      }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("every room has a test target, and every test target is declared")
  func tests() {
    let files = Set(
      Repository.files.filter { $0.hasPrefix("Tests/") && $0.hasSuffix("Tests.swift") }.map { $0.split(separator: "/")[1] })
    var found: [Finding] = []
    for room in Self.rooms where Self.testedElsewhere[room.name] == nil {
      let name = room.name + "Tests"
      if !files.contains(name[...]) {
        found.append(Finding(path: "Tests/" + name, line: 1, message: "\(room.name) has no tests"))
      }
    }
    let declared = Set(Self.targets.filter { $0.kind == .testTarget }.map(\.name))
    for name in files where !declared.contains(String(name)) {
      found.append(Finding(path: "Tests/\(name)", line: 1, message: "is no target of Package.swift: nothing runs it"))
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test(
    "the plan's verdicts",
    arguments: [
      ("StorageCore", "TreeDatabase", false), ("TreeDatabase", "StorageCore", true), ("Ledger", "TreeDatabase", false),
      ("Functions", "HTTPServer", false), ("Functions", "FunctionsKit", true), ("TreeModel", "NIOCore", false),
      ("HTTPServer", "NIOCore", true), ("HTTPServer", "Accounts", false), ("LinksAPI", "AdminAPI", false),
      ("TreeDatabase", "CSQLite", false), ("Attic", "TreeModel", false),
    ])
  func verdicts(_ room: String, _ other: String, _ isFine: Bool) {
    #expect((ImportRules.objection(to: other, in: room) == nil) == isFine)
  }

  /// The module of an import line, whatever its access level or kind.
  private static func importedModule(_ line: Substring) -> String? {
    let words = line.trimmed.words
    guard let position = words.firstIndex(of: "import"), position < 3, position + 1 < words.count else { return nil }
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
    let next = words[position + 1]
    return String(kinds.contains(next) && position + 2 < words.count ? words[position + 2] : next)
  }
}
