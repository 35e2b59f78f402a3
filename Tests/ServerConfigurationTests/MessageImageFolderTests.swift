import Glibc
import StorageCore
import TestSupport
import Testing

@testable import ServerConfiguration

/// The folder of pictures for in-app messages.
struct MessageImageFolderTests {
  private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1]

  @Test("pictures are read with the types that they have; what is no picture, too large, or a link is said, each by its name")
  func folder() throws {
    let folder = TemporaryFolder()
    let path = "\(folder.path)/pictures"
    #expect(mkdir(path, 0o755) == 0)
    let files: [(String, [UInt8])] = [
      ("chest.png", Self.png), ("ship.JPG", [0xFF, 0xD8, 0xFF, 0]), ("flag.gif", Array("GIF89a..".utf8)),
      ("map.webp", Array("RIFF....WEBPVP8".utf8)), (".hidden", [1]), ("page.png", Array("<html>".utf8)),
      ("chest.gif", Self.png), ("big.png", Self.png + [UInt8](repeating: 0, count: 1 << 20)), ("a b.png", Self.png),
    ]
    for (name, bytes) in files { try FileBytes.write(bytes, to: "\(path)/\(name)") }
    #expect(symlink("/etc/hostname", "\(path)/link.png") == 0)
    #expect(mkdir("\(path)/folder.png", 0o755) == 0)
    let read = MessageImageFolder(path)
    #expect(read.files.map(\.name) == ["chest.png", "flag.gif", "map.webp", "ship.JPG"])
    #expect(read.files.map(\.type) == ["image/png", "image/gif", "image/webp", "image/jpeg"])
    #expect(read.files.first?.bytes == Self.png)
    let wrong = ["a b.png", "big.png", "chest.gif", "folder.png", "link.png", "page.png"]
    #expect(read.problems.count == wrong.count)
    for (problem, name) in zip(read.problems, wrong) { #expect(problem.contains("/\(name)"), "\(problem)") }
    #expect(MessageImageFolder("\(path)/none").problems.count == 1)
  }

  @Test("the configuration names the folder, beside the file; what is wrong in it stops the start")
  func configuration() throws {
    let folder = TemporaryFolder()
    try FileBytes.write(Self.png, to: "\(folder.path)/chest.png")
    let text = "{\(ConfigurationTests.least), \"messages\": {\"fetchInterval\": \"1h\", \"images\": \"\(folder.path)\"}}"
    let server = try ConfigurationTests.load(text).serverConfiguration
    #expect(server.messageImages.map(\.name) == ["chest.png"])
    try FileBytes.write([1], to: "\(folder.path)/bad.png")
    #expect(ConfigurationTests.faults(text).first?.contains("bad.png") == true)
    #expect(ConfigurationTests.faults("{\(ConfigurationTests.least), \"messages\": {\"images\": 5}}").count == 1)
  }
}
