import Testing

/// Files as people read them: one idea to a file, a type in few files, calls that say what their arguments are.
@Suite struct ShapeTests {
  static let fileLinesMedian = 85
  static let filesMax = 900
  static let filesOfTypeMax = 4
  static let parametersMax = 8
  static let unlabelledPercentMax = 4.0
  /// Values that are stored or sent as they are, one member to a field, whose names do not say so.
  static let records: Set<String> = ["FunctionDescription", "LedgerTransfer", "MailOrder", "ReplayOrder"]

  /// Where the journal is being rewritten: these files are measured when that is done.
  static let exempt = [
    "Sources/StorageSQLite/", "Sources/TreeDatabase/Writ", "Sources/TreeDatabase/Batch", "Sources/Triggers/",
  ]
  static let measured = Repository.sources.filter { file in !exempt.contains { file.path.hasPrefix($0) } }
  static let outlines = Repository.sources.map { ($0, CodeOutline($0.codeBytes)) }

  @Test("half of the files have at least 85 lines, and there are at most 900")
  func sizes() {
    let lengths = Self.measured.map(\.lines.count).sorted()
    let median = lengths[lengths.count / 2]
    #expect(median >= Self.fileLinesMedian, "put companions into the file of the type that they belong to")
    #expect(lengths.count <= Self.filesMax, "put companions into the file of the type that they belong to")
  }

  @Test("a type is in at most four files of a target")
  func spread() {
    var files: [String: Set<String>] = [:]
    var declared: Set<String> = []
    for (file, outline) in Self.outlines where !Self.exempt.contains(where: { file.path.hasPrefix($0) }) {
      for part in outline.types {
        files["\(file.target).\(part.name)", default: []].insert(file.path)
        if !part.isExtension { declared.insert(part.name) }
      }
    }
    let found = files.filter { name, paths in
      paths.count > Self.filesOfTypeMax && declared.contains(String(name.drop { $0 != "." }.dropFirst()))
    }.map { name, paths in
      Finding(
        path: paths.sorted()[0], line: 1, message: "\(name) is in \(paths.count) files; the limit is \(Self.filesOfTypeMax)")
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("no initializer has more than eight parameters, except those of options and records")
  func initializers() {
    // The values of AdminModel are records: a member for each field of a request or an answer.
    let found = Self.outlines.filter { $0.0.target != "AdminModel" && $0.0.target != "Triggers" }.flatMap { file, outline in
      outline.functions.filter { function in
        // What administrators send and receive is records, all of it.
        function.name == "init" && function.hasLabel.count > Self.parametersMax && file.target != "AdminModel"
          && !["Options", "Record"].contains { function.owner.hasSuffix($0) } && !Self.records.contains(function.owner)
      }.map { file.finding($0.line, "\($0.owner).init has \($0.hasLabel.count) parameters: group those that belong together") }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("the second argument of a function has a label")
  func labels() {
    var count = 0
    var found: [Finding] = []
    for (file, outline) in Self.outlines {
      let functions = outline.functions.filter { $0.name != "init" && $0.name != "subscript" }
      count += functions.count
      found += functions.filter { !$0.isOperator && $0.hasLabel.count > 1 && !$0.hasLabel[1] }
        .map { file.finding($0.line, "the second argument of \($0.name) has no label") }
    }
    let percent = Double(found.count) * 100 / Double(max(count, 1))
    #expect(
      percent < Self.unlabelledPercentMax,
      "\(found.count) of \(count) functions\(found.listing)")
  }

  @Test("the outline sees types, owners and labels")
  func outline() {
    let text = """
      struct A<T>: B where T: C {
        class Inner { class func make(_ a: Int, _ b: Int) {} }
        init?(_ a: [Int: Int], b c: (Int, Int) -> Void = { _, _ in }, @Builder _ d: String) {}
        func run<E: Error>(by actor: Actor) throws(E) {}
        static func == (a: A, b: A) -> Bool { true }
      }
      extension A.Inner {
        func go() { self.init(1, 2) }
      }
      """
    let outline = CodeOutline(CodeMask.masked(Array(text.utf8)))
    #expect(
      outline.types.map { "\($0.name) \($0.isExtension) \($0.line)" } == ["A false 0", "A.Inner false 1", "A.Inner true 6"])
    #expect(
      outline.functions.map { "\($0.owner) \($0.name) \($0.hasLabel)" } == [
        "A.Inner make [false, false]", "A init [false, true, false]", "A run [true]", "A == [true, true]", "A.Inner go []",
      ])
  }
}
