import Links
import StorageCore
import StorageSQLite
import StorageTestSupport
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// Links on a store in memory and a clock that stands still.
struct LinkFixture: Sendable {
  let database: Database
  let clock: AdjustableClock
  let links: LinkService

  static let start: Int64 = 1_700_000_000_000
  static let prefix = "https://go.acme.test/r"
  static let apps = "&apn=test.acme.app&ibi=test.acme.ios"
  static let fingerprint = (0..<32).map { String(0x80 + $0, radix: 16).uppercased() }.joined(separator: ":")
  static let iphone = LinkVisitor(
    userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Safari/604.1")
  static let android = LinkVisitor(userAgent: "Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126.0.0.0 Mobile Safari/537.36")

  static let settings = """
    {"domains":["https://go.acme.test/r","https://go.acme.test/mypath","https://links.acme.test"],
     "hosts":["acme.test"],
     "apps":{"ios":[{"bundleId":"test.acme.ios","appStoreId":"900100200","appIdPrefix":"TEAM12345A","name":"Acme"},
                    {"bundleId":"test.acme.bare"}],
             "android":[{"packageName":"test.acme.app","sha256Fingerprints":["\(fingerprint)"]}]},
     "apiKeys":["web-key-1"]}
    """

  /// Runs a test on links of its own, with the settings above or others.
  static func run(settings: String = LinkFixture.settings, _ test: (LinkFixture) async throws -> Void) async throws {
    let engine = try TestStore.open()
    let clock = AdjustableClock(frozenAt: start)
    let database = try Database(engine: engine, participants: [], clock: clock)
    let links = try LinkService(
      engine: engine, writer: database, home: TestNamespace(database: database), clock: clock, random: SplitMix64(seed: 7))
    let outcome: Result<Void, any Error>
    do {
      try await links.put(try LinkSettings(document: settings))
      outcome = .success(try await test(LinkFixture(database: database, clock: clock, links: links)))
    } catch {
      outcome = .failure(error)
    }
    database.shutDown()
    engine.close()
    try outcome.get()
  }

  struct TestNamespace: LinkNamespace {
    let database: Database
    func known() -> NamespaceID? { database.namespace(named: "game") }
    func open() async throws(CommitError) -> NamespaceID { try await database.openNamespace(named: "game") }
  }

  /// What a long link below the prefix asks for.
  func draft(_ query: String) throws -> LinkDraft {
    let long = try LongLink("\(Self.prefix)/?\(query)", settings: links.settings)
    return LinkDraft(prefix: long.prefix, parameters: long.parameters, hasFragment: long.hasFragment)
  }

  /// Creates a short link from the parameters of a long one.
  func create(
    _ query: String, option: LinkSuffix.Option = .unguessable, suffix: String? = nil, owner: String? = nil,
    isAdmin: Bool = false
  ) async throws -> LinkService.Created {
    var draft = try draft(query)
    (draft.option, draft.customSuffix, draft.owner) = (option, suffix, owner)
    return try await links.create(draft, isAdmin: isAdmin, actor: isAdmin ? .admin("test") : .anonymous)
  }

  /// The text that an iPhone's clipboard holds after the link was opened: the link with the proof of the click.
  func clipboard(_ link: LinkRecord) async throws -> String { try await clipboard(link.address, link.parameters) }

  /// The same of a long link.
  func clipboard(long query: String) async throws -> String {
    let draft = try draft(query)
    return try await clipboard(draft.parameters.longLink(below: draft.prefix), draft.parameters)
  }

  private func clipboard(_ address: String, _ parameters: LinkParameters?) async throws -> String {
    let opening = LinkOpening(try #require(parameters), address: address, settings: links.settings)
    let click = try await links.click(on: opening.binding, by: Self.iphone)
    return opening.clipboardText(click: click)
  }

  /// The referrer that Google's store hands to the app after the link was opened on Android.
  func referrer(_ link: LinkRecord) async throws -> String {
    let opening = LinkOpening(try #require(link.parameters), address: link.address, settings: links.settings)
    let click = try await links.click(on: opening.binding, by: Self.android)
    guard case .redirect(let intent, _) = opening.outcome(for: Self.android, click: click) else {
      throw Unexpected("Android is not sent anywhere")
    }
    let part = try #require(intent.split(separator: "S.browser_fallback_url=").last?.split(separator: ";").first)
    let store = try #require(LinkURL("https://x.test/?url=\(part)")?.parameters?.first?.value)
    return try #require(LinkURL(store)?.parameters?.first { $0.name == "referrer" }?.value)
  }

  /// Counts an opening, as a request does.
  func open(_ link: LinkRecord, by visitor: LinkVisitor, address: String? = "192.0.2.7") {
    links.opened(link.key, invite: link.invite, by: visitor, isFallback: false, address: address, click: "")
  }

  /// What was counted, as `PLATFORM EVENT count`.
  func counts(_ link: LinkRecord, days: Int64 = 7) async throws -> [String] {
    try await links.counts(of: link.key, days: days).map { "\($0.platform) \($0.event) \($0.count)" }.sorted()
  }

  /// The text of a leaf; nil if there is none.
  func text(_ path: String) throws -> String? {
    guard let namespace = database.namespace(named: "game") else { return nil }
    let bytes = PathBytes(try Path(parsing: path))
    let leaf = try database.engine.read { snapshot in try snapshot.leaf(in: namespace, at: bytes) }
    guard case .string(let text) = leaf?.leaf.scalar else { return nil }
    return text
  }

  /// Writes a leaf, as a client does.
  func set(_ path: String, _ scalar: Scalar) async throws {
    let namespace = try await database.openNamespace(named: "game")
    _ = try await database.commit(
      CommitRequest(
        namespace: namespace, actor: .anonymous, operations: [.set(try Path(parsing: path), TreeNode.leaf(scalar))]))
  }

  /// The proof of a click, cut out of the text of a clipboard.
  static func token(of clipboard: String) throws -> String {
    String(try #require(clipboard.split(separator: "cid=").last?.split(separator: "&").first))
  }
}

/// Something in a test is not as it must be.
struct Unexpected: Error {
  let message: String
  init(_ message: String) { self.message = message }
}
