import HTTPServer
import Synchronization

/// The files that the console's pages are made of: HTML, CSS and JavaScript as browsers read them.
package struct ConsoleFiles: Sendable {
  /// One file.
  struct File: Sendable {
    let content: HTTPResponse.Content
    let bytes: [UInt8]
  }

  /// What was packed of them, by name: at the first request, not at each start.
  private final class Packed: Sendable {
    let files = Mutex<[String: [UInt8]]>([:])
  }

  /// Where they come from.
  private enum Source: Sendable {
    case program
    /// Read at each request, with what reads a file; nil where there is none.
    case folder(@Sendable (_ name: String) -> [UInt8]?)
  }

  /// The page that every address of the console begins with.
  static let shellName = "index.html"
  /// What stands in the shell for the name of the files' version.
  private static let buildWord = Array("~build".utf8)

  /// The name of their version: what they say, as far as nobody may confuse two.
  package let build: String
  private let source: Source
  private let packed = Packed()

  /// Those that the program was built with.
  package init() {
    build = ConsoleArchive.version
    source = .program
  }

  /// Those of a folder, for people who work on them.
  ///
  /// - `read`: reads a file of the folder by its name, which has no slash; nil where there is none.
  package init(reading read: @escaping @Sendable (_ name: String) -> [UInt8]?) {
    build = "folder"
    source = .folder(read)
  }

  /// Whether a browser may keep what it has of a version.
  var areFixed: Bool { if case .program = source { true } else { false } }

  subscript(name: String) -> File? {
    guard Self.isPlain(name), let content = Self.content(of: name) else { return nil }
    let bytes =
      switch source {
      case .program: ConsoleArchive.files[name]
      case .folder(let read): read(name)
      }
    return bytes.map { File(content: content, bytes: $0) }
  }

  /// A file's bytes as gzip; nil where they may be other ones at the next request, or the file is too small to gain from it.
  func packed(_ name: String) -> [UInt8]? {
    guard areFixed, let file = self[name], file.bytes.count > 1_000 else { return nil }
    return packed.files.withLock { files in
      if let known = files[name] { return known }
      let made = Gzip.pack(file.bytes)
      files[name] = made
      return made
    }
  }

  /// The shell, with the version's name where it names files.
  var shell: [UInt8] {
    guard let file = self[Self.shellName] else { return [] }
    var (bytes, at): ([UInt8], Int) = ([], 0)
    while at < file.bytes.count {
      if file.bytes[at] == UInt8(ascii: "~"), file.bytes[at...].starts(with: Self.buildWord) {
        bytes += Array("~\(build)".utf8)
        at += Self.buildWord.count
      } else {
        bytes.append(file.bytes[at])
        at += 1
      }
    }
    return bytes
  }

  /// The names of the program's files, for tests.
  package var names: [String] {
    areFixed ? ConsoleArchive.files.keys.sorted() : []
  }

  /// A name without a folder.
  private static func isPlain(_ name: String) -> Bool {
    name.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 46 } && name.first != "."
  }

  private static func content(of name: String) -> HTTPResponse.Content? {
    switch name.split(separator: ".").last {
    case "html": .html
    case "css": .css
    case "js": .javaScript
    case "svg": .svg
    case "webmanifest": .webManifest
    default: nil
    }
  }
}
