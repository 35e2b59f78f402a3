import Glibc
import ServerTestSupport
import TestSupport
import Testing

@testable import APISupport
@testable import ServerConfiguration

/// Which files a service's user could not use, and secrets that systemd hands over.
@Suite struct FileAccessTests {
  /// A number that no user has, as systemd gives one to a service.
  static let stranger = "61184"

  /// A configuration in a folder that everybody may pass, with a token and data below it.
  private func deployment(token: String = "{\"file\": \"secrets/ops.token\"}") throws -> TemporaryFolder {
    let folder = TemporaryFolder()
    for name in ["secrets", "data"] { #expect(mkdir(folder.file(name), 0o755) == 0) }
    let text = """
      {"project": "game", "data": "data", "rules": "r.json",
       "admins": [{"name": "ops", "token": \(token)}]}
      """
    try FileBytes.write(Array(text.utf8), to: folder.file("c.jsonc"))
    try FileBytes.write(Array(ConfigurationTests.rules.utf8), to: folder.file("r.json"))
    try FileBytes.write(Array("0123456789012345678901\n".utf8), to: folder.file("secrets/ops.token"))
    for name in [".", "secrets", "data"] { #expect(chmod(folder.file(name), 0o755) == 0) }
    for name in ["c.jsonc", "r.json", "secrets/ops.token"] { #expect(chmod(folder.file(name), 0o644) == 0) }
    return folder
  }

  private func check(_ folder: TemporaryFolder, user: String = stranger) async -> CommandRun {
    await CommandRun(["config", "check", folder.file("c.jsonc"), "--user", user])
  }

  @Test("a user who may do everything that is needed is told nothing")
  func open() async throws {
    let folder = try deployment()
    #expect(chmod(folder.file("data"), 0o777) == 0)
    let run = await check(folder)
    #expect(run.code == 0 && run.err.isEmpty, "\(run.err)")
    #expect(run.out.contains("is well."))
  }

  @Test("the superuser may do everything")
  func superuser() async throws {
    let folder = try deployment()
    #expect(chmod(folder.file("secrets/ops.token"), 0o600) == 0)
    #expect(await check(folder, user: "0").code == 0)
  }

  /// What is closed, with which mode, and what is said of it; in place of `@` stands the folder.
  static let closed: [(name: String, mode: mode_t, said: String)] = [
    (
      "secrets/ops.token", 0o640,
      ":2:38: \"admins[0].token\": user 61184 cannot read @/secrets/ops.token: @/secrets/ops.token belongs to"
    ),
    ("secrets", 0o750, "cannot read @/secrets/ops.token: the way there leads through @/secrets, which belongs to"),
    ("r.json", 0o600, ":1:46: \"rules\": user 61184 cannot read @/r.json: @/r.json belongs to"),
    ("c.jsonc", 0o600, ":1:1: user 61184 cannot read the configuration: @/c.jsonc belongs to"),
    ("data", 0o755, ":1:29: \"data\": user 61184 cannot write @/data: @/data belongs to"),
    (".", 0o700, "cannot read the configuration: the way there leads through @, which belongs to"),
  ]

  @Test("what a user cannot read or write is said, with the folder that is in the way", arguments: closed)
  func obstacles(name: String, mode: mode_t, said: String) async throws {
    let folder = try deployment()
    #expect(chmod(folder.file("data"), 0o777) == 0)
    #expect(chmod(folder.file(name), mode) == 0)
    let run = await check(folder)
    #expect(run.code == 2 && run.out.isEmpty)
    #expect(
      run.err.contains(said.split(separator: "@", omittingEmptySubsequences: false).joined(separator: folder.path)),
      "\(run.err)")
    let octal = String(mode, radix: 8)
    #expect(run.err.contains("with mode 0\(octal)."), "\(run.err)")
  }

  @Test("a link is followed: what it leads to counts as well")
  func links() async throws {
    let folder = try deployment()
    #expect(chmod(folder.file("data"), 0o777) == 0)
    #expect(mkdir(folder.file("archive"), 0o700) == 0)
    try FileBytes.write(Array(ConfigurationTests.rules.utf8), to: folder.file("archive/r.json"))
    #expect(unlink(folder.file("r.json")) == 0)
    #expect(symlink("archive/r.json", folder.file("r.json")) == 0)
    let run = await check(folder)
    #expect(run.code == 2)
    #expect(run.err.contains("the way there leads through \(folder.file("archive")), which belongs to"), "\(run.err)")
  }

  @Test("data that are not there yet are made in the nearest folder that is there")
  func missingData() async throws {
    let folder = try deployment()
    #expect(rmdir(folder.file("data")) == 0)
    let run = await check(folder)
    #expect(run.code == 2)
    #expect(run.err.contains("cannot write \(folder.file("data")): \(folder.path) belongs to"), "\(run.err)")
  }

  @Test("a user who is not there is told apart from one who may not")
  func unknownUser() async throws {
    let run = await check(try deployment(), user: "nobody-of-that-name")
    #expect(run.code == 1)
    #expect(run.err.contains("There is no user nobody-of-that-name on this machine."), "\(run.err)")
  }

  @Test("a credential is read from the folder that systemd names")
  func credentials() throws {
    let text = """
      {\(ConfigurationTests.least), "admins": [{"name": "ops", "token": {"credential": "ops"}}],
       "tls": [{"certificate": {"credential": "tls.pem"}, "key": {"credential": "tls.key"}}]}
      """
    let files = [
      "/run/c/ops": "0123456789012345678901\n", "/run/c/tls.pem": TestCertificates.local,
      "/run/c/tls.key": TestCertificates.localKey,
    ]
    let server = try ConfigurationTests.load(text, files: files, variables: ["CREDENTIALS_DIRECTORY": "/run/c"])
      .serverConfiguration
    #expect(server.admins.map(\.name) == ["ops"])
    #expect(server.certificates.map(\.key) == ["/run/c/tls.key"])
  }

  @Test("a credential that nobody handed over, or that has no name, is a fault")
  func missingCredentials() {
    let found = ConfigurationTests.faults(
      """
      {\(ConfigurationTests.least), "admins": [{"name": "ops", "token": {"credential": "ops"}}, {"name": "b", "token": {"x": "y"}}],
       "tls": [{"certificate": {"credential": "../a"}, "key": {"file": "k"}}]}
      """)
    let expected = [
      "\"admins[0].token\": there are no credentials: CREDENTIALS_DIRECTORY is not set.",
      "\"admins[1].token\" is a secret, which does not stand in this file", "\"../a\" is no credential's name",
      "\"tls[0].key\" must be a path, or {\"credential\": \"NAME\"}.",
    ]
    #expect(found.count == expected.count, "\(found)")
    for sentence in expected { #expect(found.contains { $0.contains(sentence) }, "\(sentence): \(found)") }
  }
}
