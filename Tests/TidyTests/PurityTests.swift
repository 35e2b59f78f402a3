import Testing

/// Time, chance, tasks and the terminal come in from outside; only the targets named here use them.
@Suite struct PurityTests {
  /// A thing that only some files may name.
  struct Rule: Sendable, CustomTestStringConvertible {
    /// The code that it is about.
    let texts: [String]
    /// Paths, or beginnings of paths, that may use it.
    let allowed: [String]
    /// What to do instead.
    let advice: String

    var testDescription: String { texts.joined(separator: " ") }
  }

  /// What a game imports: its calls come from anywhere, and Apple's systems have Foundation in any case.
  static let games = ["Sources/Doubloon/"]

  static let rules: [Rule] = [
    Rule(
      texts: ["Task {", "Task(", "Task.detached", "Task.immediate"],
      allowed: ["Sources/ServerApp/", "Sources/Triggers/", "Sources/HTTPServer/"] + games,
      advice: "what lives long is a service with a run(), started by ServerApp"),
    Rule(
      texts: ["Date()", "Date.now", "CLOCK_REALTIME", "gettimeofday"],
      allowed: [
        "Sources/StorageCore/Clock/", "Sources/ServerApp/", "Sources/DoubloonCLI/Input/", "Sources/DoubloonCLI/Options/",
        "Sources/ClientRuntime/ClientClock.swift",
      ],
      advice: "take the time from the injected clock"),
    Rule(
      texts: [".random(in:", ".random()", "SystemRandomNumberGenerator", ".shuffled()", ".randomElement()"],
      // A client masks its frames with what nobody can foresee (RFC 6455 section 5.3).
      allowed: [
        "Sources/ServerApp/", "Sources/DoubloonCLI/Input/", "Sources/DoubloonCLI/Options/", "Sources/ClientNIO/NIOSocket.swift",
      ] + games,
      advice: "take a generator as an argument, and draw with `using:`"),
    Rule(
      texts: ["print(", "debugPrint(", "dump("], allowed: ["Sources/DoubloonCLI/", "Sources/DoubloonCommand/"],
      advice: "log through the logger; only commands talk to the terminal"),
    Rule(
      texts: ["import Foundation"], allowed: games + ["Sources/ClientRuntime/", "Sources/ClientApple/"],
      advice: "Foundation doubles the binary and its memory: the standard library and Glibc are enough"),
  ]

  static func findings(of rule: Rule, in files: [SwiftFile]) -> [Finding] {
    files.filter { file in !rule.allowed.contains { file.path.hasPrefix($0) } }.flatMap { file in
      rule.texts.flatMap { text in
        file.lines(holding: text).filter { standsAlone(text, in: file.code[$0]) && !file.code[$0].holds("using: &") }
          .map { file.finding($0, "\(text): \(rule.advice)") }
      }
    }
  }

  /// Whether the text is no tail of a longer word: `print(` is not `fingerprint(`.
  private static func standsAlone(_ text: String, in line: Substring) -> Bool {
    guard let first = text.first, first.isLetter else { return true }
    let bytes = Array(line.utf8)
    let needle = Array(text.utf8)
    return (0...(bytes.count - needle.count)).contains { start in
      guard bytes[start..<(start + needle.count)].elementsEqual(needle) else { return false }
      guard start > 0 else { return true }
      let before = Character(Unicode.Scalar(bytes[start - 1]))
      return !(before.isLetter || before.isNumber || before == "_" || before == ".")
    }
  }

  @Test("only the targets that may use it", arguments: rules)
  func targets(_ rule: Rule) {
    let found = Self.findings(of: rule, in: Repository.sources)
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("the rules see code, not comments, strings or longer words")
  func rule() {
    let file = SwiftFile(
      path: "Sources/TreeModel/A.swift",
      text: """
        // Task { in a comment }
        let a = "Task { in a string \\(fingerprint(x)) }"
        let b = "\\(print(1))"
        Task { await c() }
        """)
    #expect(Self.findings(of: Self.rules[0], in: [file]).map(\.line) == [4])
    #expect(Self.findings(of: Self.rules[3], in: [file]).map(\.line) == [3])
  }

  @Test("a promise that the compiler cannot check states its proof in a comment")
  func unchecked() {
    var found: [Finding] = []
    for file in Repository.sources {
      for promise in ["@unchecked Sendable", "nonisolated(unsafe)"] {
        for line in file.lines(holding: promise) {
          let comment = file.comment(above: line) + (file.lines[line].holds("//") ? file.lines[line] : "")
          if !comment[...].holds(promise) {
            found.append(file.finding(line, "say why `\(promise)` holds, in a comment right above that names it"))
          }
        }
      }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }
}
