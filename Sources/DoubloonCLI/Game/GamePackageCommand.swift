import ArgumentParser
import Glibc
import ServerApp
import ServerConfiguration
import TreeModel

/// `doubloon new`: writes a studio's own package.
struct GamePackageCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Write the package of a game of your own.",
    discussion: """
      Functions with their tests, security rules with theirs, the configuration of a server in production, a Dockerfile, a \
      unit for systemd and a CI file: a package that builds, passes its tests, and is yours to change. Its program is \
      Doubloon's whole command line with your functions.

      The package depends on Doubloon. Where this program was built in Doubloon's folder, that is the one; another folder, \
      or the URL of a repository, is named with --doubloon. README.md in the package says how both are built in one \
      place, so that Doubloon is compiled once.

      Examples:
        doubloon new MyGame
        doubloon new games/TreasureIsland --doubloon ../doubloon
      """)

  @Argument(help: ArgumentHelp("The game's name, or the folder to make, which ends in it.", valueName: "name|folder"))
  var folder: String

  @Option(
    help: ArgumentHelp("Doubloon's folder, or its repository. (default: where this program was built)", valueName: "path|url"))
  var doubloon: String?

  @OptionGroup
  var output: OutputOptions

  func run() async throws {
    let path = FileBytes.absolute(trimmed)
    let name = try GameName(String(path.split(separator: "/").last ?? ""))
    let source = try DoubloonSource(
      doubloon, program: DoubloonSource.runningProgram, version: DoubloonCommandLine.configuration.version)
    var files = GameTemplate(name: name, source: source).rendered()
    if let versions = source.resolvedVersions { files.append(GameTemplate.File(path: "Package.resolved", bytes: versions)) }
    try PackageFolder(path: path).write(files)
    let answer: JSON = [
      "folder": .string(path), "name": .string(name.text), "doubloon": .string(source.folder),
      "files": .array(files.map { .string($0.path) }),
    ]
    output.print(answer) { _ in Self.text(path: path, given: trimmed, name: name, source: source) }
  }

  /// The folder as it was given, without slashes at its end.
  private var trimmed: String {
    var folder = folder
    while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
    return folder
  }

  private static func text(path: String, given: String, name: GameName, source: DoubloonSource) -> String {
    """
    \(name.text) is in \(path). Now:
      cd \(given)
      export SWIFTPM_BUILD_DIR="\(source.buildFolder)"
      swift test
      swift run \(name.text) dev
    The second line has it built where Doubloon is built, so that Doubloon is compiled once. README.md says the rest.
    """
  }
}

/// A folder that is written whole or not at all.
struct PackageFolder {
  /// Absolute.
  let path: String

  /// Writes the files into a folder beside, which gets its name when all is there.
  ///
  /// - Throws: `CommandError` if something is there that is no empty folder; `FileError`.
  func write(_ files: [GameTemplate.File]) throws {
    guard isVacant else {
      throw CommandError(
        "\(path) is there already, and not empty. Choose another name, or move it away first; nothing was written.")
    }
    let parent = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    try makeFolders(parent)
    var template = Array("\(parent)/.doubloon-new-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CommandError("No folder can be made in \(parent): \(FileBytes.lastError). Check its permissions.")
    }
    let partial = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    do {
      for file in files {
        let target = "\(partial)/\(file.path)"
        if let slash = file.path.lastIndex(of: "/") { try makeFolders("\(partial)/\(file.path[..<slash])") }
        try FileBytes.write(file.bytes, to: target)
      }
      guard chmod(partial, 0o755) == 0, rename(partial, path) == 0 else {
        throw CommandError("\(path) cannot be made: \(FileBytes.lastError). Nothing was written.")
      }
    } catch {
      remove(partial, files: files)
      throw error
    }
  }

  /// Whether nothing is there, or an empty folder, which the new one replaces.
  private var isVacant: Bool {
    guard let folder = opendir(path) else {
      var status = stat()
      return lstat(path, &status) != 0
    }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let first = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if first != ".", first != ".." { return false }
    }
    return true
  }

  private func makeFolders(_ path: String) throws(CommandError) {
    var partial = path.hasPrefix("/") ? "/" : ""
    for piece in path.split(separator: "/") {
      partial += partial.isEmpty || partial.hasSuffix("/") ? String(piece) : "/" + piece
      guard mkdir(partial, 0o755) != 0, errno != EEXIST, errno != EISDIR else { continue }
      throw CommandError("The folder \(partial) cannot be made: \(FileBytes.lastError). Check the path and its permissions.")
    }
  }

  /// Takes back what was written of a package.
  private func remove(_ partial: String, files: [GameTemplate.File]) {
    for file in files { unlink("\(partial)/\(file.path)") }
    var folders: Set<String> = [partial]
    for file in files {
      var parts = file.path.split(separator: "/").dropLast()
      while !parts.isEmpty {
        folders.insert("\(partial)/\(parts.joined(separator: "/"))")
        parts.removeLast()
      }
    }
    // The deepest first.
    for folder in folders.sorted(by: { $0.utf8.count > $1.utf8.count }) { rmdir(folder) }
  }
}
