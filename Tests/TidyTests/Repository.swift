#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The checkout that these tests were compiled in, read file by file.
enum Repository {
  /// Where the checkout is, without a slash at the end.
  static let root: String = {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    return parts.dropLast(3).joined(separator: "/")
  }()

  /// Folders whose content is built or fetched, not written.
  private static let skipped: Set<String> = [".build", ".git", ".swiftpm", ".doubloon", "__pycache__", "node_modules"]

  /// Every file of the checkout, relative to its root, sorted. Links are left out: the file that they name is there.
  static let files: [String] = walk("").sorted()

  /// The Swift code of the product.
  static let sources: [SwiftFile] = swiftFiles(under: ["Sources/", "Functions/"])

  /// All Swift code, tests and benchmarks too.
  static let swiftFiles: [SwiftFile] = swiftFiles(under: [""])

  /// Everything that is text.
  static let texts: [TextFile] = {
    let kinds = ["swift", "sh", "py", "c", "h", "md", "sql", "yml", "yaml", "json", "txt"]
    return files.filter { file in
      kinds.contains { file.hasSuffix("." + $0) } || file.hasPrefix("Scripts/") || file.hasPrefix(".ci/")
        || file.hasSuffix("Dockerfile")
    }.map(TextFile.init(path:))
  }()

  /// The text of a file; empty if there is none.
  static func text(of path: String) -> String {
    guard let file = fopen(root + "/" + path, "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }

  static func exists(_ path: String) -> Bool { access(root + "/" + path, F_OK) == 0 }
  static func isExecutable(_ path: String) -> Bool { access(root + "/" + path, X_OK) == 0 }

  private static func swiftFiles(under folders: [String]) -> [SwiftFile] {
    files.filter { file in file.hasSuffix(".swift") && folders.contains { file.hasPrefix($0) } }
      .map { SwiftFile(path: $0, text: text(of: $0)) }
  }

  private static func walk(_ folder: String) -> [String] {
    guard let directory = opendir(folder.isEmpty ? root : root + "/" + folder) else { return [] }
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name == "." || name == ".." || skipped.contains(name) || name.hasPrefix(".build-") { continue }
      let path = folder.isEmpty ? name : folder + "/" + name
      switch kind(of: path) {
      case S_IFDIR: found += walk(path)
      case S_IFREG: found.append(path)
      default: continue
      }
    }
    return found
  }

  private static func kind(of path: String) -> mode_t {
    var status = stat()
    return lstat(root + "/" + path, &status) == 0 ? status.st_mode & S_IFMT : 0
  }
}

/// A file as lines of text.
struct TextFile: Sendable {
  let path: String
  let lines: [Substring]
  /// The same in one piece.
  let bytes: [UInt8]

  init(path: String) {
    self.init(path: path, text: Repository.text(of: path))
  }

  init(path: String, text: String) {
    self.path = path
    bytes = Array(text.utf8)
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last == "" { lines.removeLast() }
    self.lines = lines
  }
}

/// A line that breaks a rule.
struct Finding: CustomStringConvertible, Sendable {
  let path: String
  let line: Int
  let message: String

  var description: String { "\(path):\(line): \(message)" }
}

extension [Finding] {
  /// The findings as the test prints them, one a line.
  var listing: String { map { "\n" + $0.description }.joined() }
}
