import APISupport
import Foundation
import HTTPServer
import ServerConfiguration
import ServerTestSupport
import Testing

@testable import WebConsole

/// The console's pages on the wire; what is on them is tried in a browser.
struct ConsolePageTests {
  @Test(
    "Every address below /console/ is the shell, with all headers that bind its scripts",
    arguments: [
      "/console", "/console/", "/console/n/demo/data/users/bob?at=r812", "/console/n/demo/event/1-6:/users/bob/level",
    ])
  func shell(_ path: String) async throws {
    try await APIServer.run { server in
      let page = try await server.send("GET", path)
      #expect(page.status == 200)
      #expect(page["content-type"] == "text/html; charset=utf-8")
      #expect(page.body.contains("<html"))
      #expect(!page.body.contains("~build"))
      #expect(page["content-security-policy"] == WebConsole.policy)
      #expect(page["x-frame-options"] == "DENY")
      #expect(page["x-content-type-options"] == "nosniff")
      #expect(page["referrer-policy"] == "no-referrer")
      #expect(page["cross-origin-opener-policy"] == "same-origin")
      #expect(page["cross-origin-resource-policy"] == "same-origin")
      #expect(page["access-control-allow-origin"] == nil)
      #expect(page["cache-control"] == "no-cache")
      let etag = try #require(page["etag"])
      let again = try await server.send("GET", path, headers: ["If-None-Match": etag])
      #expect(again.status == 304)
      #expect(again.body.isEmpty)
      let head = try await server.send("HEAD", path)
      #expect(head.status == 200 && head.body.isEmpty)
      #expect(try await server.send("POST", path, "x").status == 405)
    }
  }

  @Test("The policy lets scripts do what the console needs and no more")
  func policy() {
    let directives = Set(WebConsole.policy.split(separator: ";").map { String($0.drop { $0 == " " }) })
    #expect(
      directives == [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob: data:", "connect-src 'self'",
        "manifest-src 'self'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
      ])
  }

  @Test(
    "The program carries the files of the repository, packed, line by line and without comments: under 150,000 bytes in all")
  func archive() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let folder = root.appendingPathComponent("Sources/CConsoleAssets/assets")
    let files = ConsoleFiles()
    #expect(
      files.names == (try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()), "run Scripts/console_pack.py")
    #expect(ConsoleArchive.packed.count <= 150_000)
    for name in files.names {
      let lines = { (text: String) in text.split(separator: "\n", omittingEmptySubsequences: false) }
      let written = lines(try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8))
      let carried = lines(String(decoding: files[name]?.bytes ?? [], as: UTF8.self))
      #expect(written.count == carried.count, "\(name): run Scripts/console_pack.py")
      for (number, (line, short)) in zip(written, carried).enumerated() where line != short {
        let whole = line.drop { $0 == " " }
        let left = whole.dropFirst(short.count).drop { $0 == " " }
        let isComment = left.isEmpty || ["//", "/*"].contains { left.hasPrefix($0) } || (short.isEmpty && left.hasPrefix("*"))
        #expect(whole.hasPrefix(short) && isComment, "\(name), line \(number + 1): run Scripts/console_pack.py")
      }
    }
  }

  @Test("What is no archive has no files, and one that breaks off has those before")
  func brokenArchive() throws {
    let whole = try Gunzip.unpack(ConsoleArchive.packed)
    #expect(ConsoleArchive.files(in: whole) == ConsoleArchive.files)
    #expect(ConsoleArchive.files(in: Array(whole.prefix(20_000))).keys.sorted() == ["account.js"])
    for broken in [[], [1], [UInt8](repeating: 65, count: 2_000)] { #expect(ConsoleArchive.files(in: broken).isEmpty) }
  }

  @Test("Files stand below their version, may be kept for ever, and are those of the program")
  func files() async throws {
    let files = ConsoleFiles()
    try await APIServer.run { server in
      for name in files.names where name != "index.html" {
        let answer = try await server.send("GET", "/console/~\(files.build)/\(name)")
        #expect(answer.status == 200, "\(name)")
        #expect(answer["cache-control"] == "public, max-age=31536000, immutable")
        #expect(answer.body.utf8.elementsEqual(files[name]?.bytes ?? []), "\(name)")
        #expect(answer["content-security-policy"] == WebConsole.policy)
        #expect(answer["content-encoding"] == nil)
      }
      let head = try await server.send("HEAD", "/console/~\(files.build)/app.js", headers: ["Accept-Encoding": "br, gzip"])
      #expect(head["content-encoding"] == "gzip" && head["vary"] == "Accept-Encoding")
      #expect(head["content-length"] == files.packed("app.js").map { "\($0.count)" })
      for other in ["gzip;q=0", "identity", "xgzip"] {
        let whole = try await server.send("HEAD", "/console/~\(files.build)/app.js", headers: ["Accept-Encoding": other])
        #expect(whole["content-encoding"] == nil && whole["vary"] == "Accept-Encoding", "\(other)")
      }
      for path in ["~0000000000000000/app.js", "~\(files.build)/none.js", "~\(files.build)/index.html", "~\(files.build)"] {
        #expect(try await server.send("GET", "/console/\(path)").status == 404, "\(path)")
      }
    }
  }

  @Test("A path that ends in .json is the database's, also below /console")
  func json() async throws {
    try await APIServer.run { server in
      let body = try await server.send("GET", "/console/n.json").body
      #expect(body == "null")
    }
  }

  @Test("A browser at / is led to the console in development, and in production learns nothing")
  func root() async throws {
    let accept = ["Accept": "text/html,application/xhtml+xml"]
    try await APIServer.run { server in
      let answer = try await server.send("GET", "/", headers: accept)
      #expect(answer.status == 303)
      #expect(answer["location"] == "/console/")
      #expect(try await server.send("GET", "/").status == 404)
    }
    try await APIServer.run(access: AccessPolicy(mode: .production, adminTokens: [])) { server in
      let answer = try await server.send("GET", "/", headers: accept)
      #expect(answer.status == 200)
      #expect(!answer.body.lowercased().contains("doubloon"))
      #expect(answer["location"] == nil)
    }
  }

  @Test("From a folder only plain names are read")
  func folder() {
    let files = ConsoleFiles { name in name == "app.js" || name == "x.html" ? Array("\(name)".utf8) : nil }
    #expect(files["app.js"] != nil)
    for name in ["../app.js", "a/app.js", ".app.js", "none.js", "APP.JS", "app.exe", ""] {
      #expect(files[name] == nil, "\(name)")
    }
    #expect(!files.areFixed)
  }
}
