import Glibc

/// A picture for in-app messages, as its file was when the server started.
package struct MessageImageFile: Sendable, Hashable {
  package let name: String
  /// `image/png`, by what the file holds.
  package let type: String
  package let bytes: [UInt8]
}

/// The folder `messages.images`: pictures that the server itself hands to apps. They are read once, at the start, and bounded, so
/// that a request costs no file, and no name can lead out of the folder.
struct MessageImageFolder {
  static let filesMax = 500
  static let fileBytesMax = 1 << 20
  static let bytesMax = 64 << 20

  private(set) var files: [MessageImageFile] = []
  /// A sentence for each file that cannot be served.
  private(set) var problems: [String] = []

  init(_ folder: String) {
    guard let names = Self.names(in: folder) else {
      problems.append("The folder \(folder) cannot be read: \(FileBytes.lastError).")
      return
    }
    guard names.count <= Self.filesMax else {
      problems.append("The folder \(folder) has \(names.count) files; \(Self.filesMax) pictures can be served.")
      return
    }
    var total = 0
    for name in names.sorted() {
      do {
        let file = try Self.file(name, in: folder)
        total += file.bytes.count
        files.append(file)
      } catch {
        problems.append("\(error)")
      }
    }
    if total > Self.bytesMax {
      problems.append("The pictures of \(folder) have \(total >> 20) MiB together; \(Self.bytesMax >> 20) MiB can be served.")
    }
  }

  private static func file(_ name: String, in folder: String) throws(FileError) -> MessageImageFile {
    let path = "\(folder)/\(name)"
    guard isName(name) else {
      throw FileError("\(path): a picture's name has 1 to 100 of letters, digits, \".\", \"_\" and \"-\".")
    }
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw FileError("\(path) is no file; links and folders are not followed. Put the picture itself there.")
    }
    guard status.st_size <= fileBytesMax else {
      throw FileError("\(path) has \(status.st_size >> 10) KiB; make it smaller than \(fileBytesMax >> 10) KiB.")
    }
    let bytes = try FileBytes.read(path)
    let ending = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
    guard bytes.count <= fileBytesMax, let type = type(of: bytes), type.endings.contains(ending) else {
      throw FileError("\(path) is not what its name says: pictures are .png, .jpg, .gif and .webp.")
    }
    return MessageImageFile(name: name, type: type.name, bytes: bytes)
  }

  private static func isName(_ name: String) -> Bool {
    (1...100).contains(name.utf8.count)
      && name.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0 | 0x20) || [45, 46, 95].contains($0) }
  }

  /// What a file is by its first bytes; a name alone could make a page of it.
  private static func type(of bytes: [UInt8]) -> (name: String, endings: [String])? {
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return ("image/png", ["png"]) }
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return ("image/jpeg", ["jpg", "jpeg"]) }
    if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) { return ("image/gif", ["gif"]) }
    if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return ("image/webp", ["webp"]) }
    return nil
  }

  /// The names in a folder that are not hidden; nil if it cannot be read.
  private static func names(in folder: String) -> [String]? {
    guard let directory = opendir(folder) else { return nil }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.first != "." { names.append(name) }
    }
    return names
  }
}
