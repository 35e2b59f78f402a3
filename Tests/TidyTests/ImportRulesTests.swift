import Testing

/// Targets import lower layers only, as the table says.
@Suite struct ImportRulesTests {
  static let targets = DeclaredTarget.all(in: Repository.text(of: "Package.swift"))
  static let products = targets.filter { !$0.isForTests }

  /// Targets without a test target of their own, and what tests them.
  static let testedElsewhere: [String: String] = [
    "CBuild": "one line of C; the stage package reads what it says",
    "CConsoleAssets": "bytes; WebConsoleTests compare them with the files",
    "CSQLite": "a module map; StorageSQLiteTests go through it",
    "CMalloc": "a header; the stage hostile measures what it gives back",
    "DoubloonTesting": "FunctionsTests and Examples/OwnGame are written with it",
    "DoubloonCommand": "the stages of Scripts/test start the program itself",
  ]

  @Test("Package.swift and the table name the same targets")
  func table() {
    #expect(Set(Self.products.map(\.name)) == Set(ImportRules.layers.keys))
  }

  @Test("the page Architecture lists every target on its layer")
  func page() {
    let page = TextFile(path: "Sources/ServerApp/ServerApp.docc/Architecture.md")
    let rows = page.lines.filter { $0.hasPrefix("| ") }.map { $0.split(separator: "|").prefix(2).map(\.trimmed) }
    let listed = Set(rows.compactMap { $0.count == 2 ? "\($0[0]) \($0[1])" : nil })
    for (target, layer) in ImportRules.layers where !["CBuild", "CConsoleAssets", "CSQLite", "CMalloc"].contains(target) {
      #expect(listed.contains("\(target == "Functions" ? "tenant" : "\(layer)") `\(target)`"), "\(target) on layer \(layer)")
    }
  }

  @Test("every dependency in Package.swift goes downwards")
  func dependencies() {
    let found = Self.products.flatMap { target in
      target.dependencies.compactMap { ImportRules.objection(to: $0, in: target.name) }
        .map { Finding(path: "Package.swift", line: target.line + 1, message: $0) }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("every import goes downwards, and is declared")
  func imports() {
    let declared = Dictionary(Self.products.map { ($0.name, Set($0.dependencies)) }, uniquingKeysWith: { first, _ in first })
    var found: [Finding] = []
    for file in Repository.sources {
      let target = String(file.target)
      for (line, text) in file.code.enumerated() {
        guard let module = Self.importedModule(text) else { continue }
        if let objection = ImportRules.objection(to: module, in: target) { found.append(file.finding(line, objection)) }
        if ImportRules.layers[module] != nil, declared[target]?.contains(module) != true {
          found.append(file.finding(line, "\(target) does not list \(module) in Package.swift"))
        }
      }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("the library for games depends on no target of the server's, at any distance")
  func games() {
    let declared = Dictionary(Self.products.map { ($0.name, $0.dependencies) }, uniquingKeysWith: { first, _ in first })
    var reached: Set<String> = ["Doubloon"]
    var next = ["Doubloon"]
    while let target = next.popLast() {
      for dependency in declared[target] ?? [] where reached.insert(dependency).inserted { next.append(dependency) }
    }
    #expect(reached.contains("TreeModel") && reached.contains("ClientNIO"))
    #expect(reached.subtracting(ImportRules.client).subtracting(["TextFormats", "TreeModel"]).isEmpty, "\(reached)")
  }

  @Test("every target has a test target, and every test target is declared")
  func tests() {
    let files = Set(
      Repository.files.filter { $0.hasPrefix("Tests/") && $0.hasSuffix("Tests.swift") }.map { $0.split(separator: "/")[1] })
    var found: [Finding] = []
    for target in Self.products where Self.testedElsewhere[target.name] == nil {
      let name = target.name + "Tests"
      if !files.contains(name[...]) {
        found.append(Finding(path: "Tests/" + name, line: 1, message: "\(target.name) has no tests"))
      }
    }
    let declared = Set(Self.targets.filter { $0.kind == .testTarget }.map(\.name))
    for name in files where !declared.contains(String(name)) {
      found.append(Finding(path: "Tests/\(name)", line: 1, message: "is no target of Package.swift: nothing runs it"))
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test(
    "what the table allows",
    arguments: [
      ("StorageCore", "TreeDatabase", false), ("TreeDatabase", "StorageCore", true), ("Ledger", "TreeDatabase", false),
      ("Functions", "HTTPServer", false), ("Functions", "FunctionsKit", true), ("TreeModel", "NIOCore", false),
      ("HTTPServer", "NIOCore", true), ("HTTPServer", "Accounts", false), ("LinksAPI", "AdminAPI", false),
      ("TreeDatabase", "CSQLite", false), ("Links", "NIOHTTP1", false), ("Unknown", "TreeModel", false),
      ("ClientNIO", "NIOCore", true), ("ClientLink", "NIOCore", false), ("Doubloon", "ClientNIO", true),
      ("Doubloon", "StorageCore", false), ("ServerApp", "ClientRuntime", false),
    ])
  func verdicts(target: String, other: String, isAllowed: Bool) {
    #expect((ImportRules.objection(to: other, in: target) == nil) == isAllowed)
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
