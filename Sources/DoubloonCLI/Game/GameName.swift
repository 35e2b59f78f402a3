import ArgumentParser
import ServerApp

/// What a studio calls its game's package: a name for Swift, and the same where only small letters and hyphens are allowed.
struct GameName: Sendable, Equatable {
  /// The name of the package, its program and, with an ending, its modules: `MyGame`.
  let text: String
  /// The project, the unit, the image, the user: `my-game`.
  let hyphenated: String

  /// A project's name has at most 48.
  static let lengthMax = 40

  /// Words that are no identifiers in Swift. (The Swift Programming Language, Lexical Structure, Keywords and Punctuation)
  static let keywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "as", "associatedtype", "async", "await", "borrowing", "break", "case", "catch", "class",
    "consuming", "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
    "fileprivate",
    "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "nonisolated", "open",
    "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct",
    "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]

  /// Modules and products of Doubloon: SwiftPM builds no two of one name. A test compares them with the folder `Sources`.
  static let taken: Set<String> = [
    "APISupport", "AccessRules", "Accounts", "AdminAPI", "AdminClient", "AdminModel", "Backups", "CBuild",
    "CConsoleAssets", "CMalloc", "CSQLite", "ClientApple", "ClientLink", "ClientNIO", "ClientRuntime", "Credentials",
    "Doubloon", "DoubloonCLI", "DoubloonCommand", "DoubloonEngine",
    "DoubloonTesting", "Functions", "FunctionsKit",
    "HTTPServer", "IdentityAPI", "Invites", "Ledger", "Links", "LinksAPI", "Mail", "MailContent", "Messages", "MessagesAPI",
    "PlayerLifecycle",
    "RealtimeAPI", "RewardModel", "ServerApp", "ServerConfiguration", "StorageCore", "StoragePostgres", "StorageSQLite",
    "SyncModel",
    "TextFormats",
    "TreeDatabase", "TreeModel", "Triggers", "WebConsole",
  ]

  /// Modules of the toolchain, and of what Doubloon depends on.
  static let foreign: Set<String> = [
    "ArgumentParser", "Crypto", "Foundation", "Glibc", "Logging", "Main", "Metrics", "NIO", "PackageDescription",
    "ServiceLifecycle",
    "Swift", "Synchronization", "Testing", "XCTest",
  ]

  init(text: String, hyphenated: String) {
    self.text = text
    self.hyphenated = hyphenated
  }

  /// Reads a name.
  ///
  /// - Throws: `ValidationError` that says what a name may be.
  init(_ text: String) throws {
    let isIdentifier = text.utf8.allSatisfy { Self.isLetter($0) || Self.isDigit($0) || $0 == UInt8(ascii: "_") }
    guard isIdentifier, let first = text.utf8.first, Self.isLetter(first), (2...Self.lengthMax).contains(text.utf8.count) else {
      let suggestion = Self.suggestion(for: text).map { " Try \($0)." } ?? ""
      throw ValidationError(
        "\"\(text.printable)\" cannot be the name of a Swift module: it takes 2 to \(Self.lengthMax) letters from A to Z, digits and "
          + "underscores, and begins with a letter.\(suggestion)")
    }
    guard !Self.keywords.contains(text) else {
      throw ValidationError(
        "\"\(text)\" is a word of the Swift language, and no name. Try \(text.prefix(1).uppercased())\(text.dropFirst())Game.")
    }
    let others = Set(Self.taken.union(Self.foreign).map { $0.lowercased() })
    guard !["", "Functions", "FunctionsTests"].contains(where: { others.contains((text + $0).lowercased()) }) else {
      throw ValidationError(
        "\"\(text)\" is the name of a module that Doubloon brings; two of one name cannot be built. Try \(text)Game.")
    }
    self.init(text: text, hyphenated: Self.hyphenated(text))
  }

  /// `MyGame2` as `my-game2`, `HTTPGame` as `http-game`.
  static func hyphenated(_ text: String) -> String {
    let letters = Array(text)
    var words = ""
    for (index, letter) in letters.enumerated() {
      let isUpper = letter.isUppercase
      let previous = index > 0 ? letters[index - 1] : nil
      let next = index + 1 < letters.count ? letters[index + 1] : nil
      let begins = isUpper && previous.map { !$0.isUppercase || next?.isLowercase == true } == true
      if letter == "_" || (begins && previous != "_") { words += "-" }
      if letter != "_" { words += letter.lowercased() }
    }
    return words.split(separator: "-").joined(separator: "-")
  }

  /// A name like the text: the letters and digits, each word with a capital.
  private static func suggestion(for text: String) -> String? {
    let words = text.split { character in !(character.isASCII && (character.isLetter || character.isNumber)) }
    let name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    let legal = String(name.drop { $0.isNumber }.prefix(lengthMax))
    return legal != text && (try? GameName(legal)) != nil ? legal : nil
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte | 0x20) }
  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}
