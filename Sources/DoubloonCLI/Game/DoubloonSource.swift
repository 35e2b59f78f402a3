import ArgumentParser
import Glibc
import ServerConfiguration

/// Where a game's package takes Doubloon from.
enum DoubloonSource: Sendable, Equatable {
  /// A folder of this machine with Doubloon's sources, by its absolute path.
  case checkout(String)
  /// A repository that SwiftPM fetches: its URL, and which version, as a manifest says it.
  case repository(url: String, requirement: String)

  /// Finds out what `--doubloon` means.
  ///
  /// - Parameters:
  ///   - text: a folder or a URL; nil for the checkout that the program was built in.
  ///   - program: the path of the program that runs.
  ///   - version: what the program says that it is: `doubloon 0.1.0 (commit)`.
  /// - Throws: `ValidationError` or `CommandError` that say what can be given instead.
  init(_ text: String?, program: String?, version: String) throws {
    guard let text else {
      guard let checkout = program.flatMap(Self.checkout(around:)) else {
        throw CommandError(
          "This program does not lie in the folder that it was built in, so it cannot tell where Doubloon's sources are. Get them, "
            + "and name their folder, or their repository, with --doubloon.")
      }
      try self.init(checkout, program: nil, version: version)
      return
    }
    // Both are written into Swift and into a shell's double quotes.
    guard !text.isEmpty, !text.unicodeScalars.contains(where: { "\"\\$`".unicodeScalars.contains($0) || $0.value < 0x20 })
    else {
      throw ValidationError("--doubloon takes a folder or a URL without quotes, backslashes, dollar signs and line breaks.")
    }
    if text.contains("://") || text.hasPrefix("git@") {
      guard !text.contains(" ") else { throw ValidationError("--doubloon: a URL has no blanks.") }
      self = .repository(url: text, requirement: Self.requirement(version))
      return
    }
    let path = Self.real(text)
    guard Self.isCheckout(path) else {
      throw CommandError(
        "\(text) does not hold Doubloon's sources: there is no Package.swift of the package \"doubloon\" in it.")
    }
    self = .checkout(path)
  }

  /// How a manifest names the package whose products it uses: by the last part of the URL.
  var identity: String {
    guard case .repository(let url, _) = self else { return "doubloon" }
    let last = url.split { "/:".contains($0) }.last ?? "doubloon"
    return (last.hasSuffix(".git") ? last.dropLast(4) : last).lowercased()
  }

  /// The folder with the sources; for a repository a word that stands for one.
  var folder: String {
    switch self {
    case .checkout(let path): path
    case .repository: "PATH"
    }
  }

  /// Where packages are built that share what of Doubloon was built once.
  var buildFolder: String {
    switch self {
    case .checkout(let path): "\(path)/.build"
    case .repository: "$HOME/.cache/doubloon-build"
    }
  }

  /// The versions of dependencies that Doubloon was built with on this machine: SwiftPM takes others where it is not told.
  var resolvedVersions: [UInt8]? {
    guard case .checkout(let path) = self else { return nil }
    return try? FileBytes.read("\(path)/Package.resolved")
  }

  /// The path of the program that runs, whatever it was called by.
  static var runningProgram: String? {
    guard let path = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }

  /// A release names itself; what was built between two releases follows the repository.
  private static func requirement(_ version: String) -> String {
    // Behind the number may stand what it was built from.
    let number = version.split(separator: " ").dropFirst().first ?? ""
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    let isRelease = parts.count == 3 && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }
    return isRelease ? "from: \"\(number)\"" : "branch: \"main\""
  }

  /// The nearest folder above a program that holds Doubloon's sources.
  private static func checkout(around program: String) -> String? {
    var parts = program.split(separator: "/")
    while !parts.isEmpty {
      parts.removeLast()
      let folder = "/" + parts.joined(separator: "/")
      if isCheckout(folder) { return folder }
    }
    return nil
  }

  private static func isCheckout(_ folder: String) -> Bool {
    guard FileBytes.isFolder("\(folder)/Sources/FunctionsKit"), let manifest = try? FileBytes.read("\(folder)/Package.swift")
    else {
      return false
    }
    return String(decoding: manifest, as: UTF8.self).split(separator: "\n").contains { line in
      line.drop { $0 == " " }.hasPrefix("name: \"doubloon\",")
    }
  }

  private static func real(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return FileBytes.absolute(path) }
    defer { free(real) }
    return String(cString: real)
  }
}
