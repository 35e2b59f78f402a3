import Invites
import MailContent
import StorageCore
import StorageSQLite
import StorageTestSupport
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// Invitations on a store in memory and a clock that stands still.
struct InvitationFixture: Sendable {
  let database: Database
  let clock: AdjustableClock
  let invitations: InvitationService

  static let start: Int64 = 1_700_000_000_000
  static let link = "https://go.acme.test/r/x"

  static let settings = """
    {"appName":"Acme","campaigns":{"default":{
      "link":"https://go.acme.test/r/?link=https://acme.test/play&apn=test.acme.app&ibi=test.acme.ios",
      "image":"https://cdn.acme.test/big.png","partner":"partner://invite?url={{link}}&text={{message}}",
      "templates":{"en":{"sms":"Join {{inviter}}: {{link}}"},"pl":{"subject":"{{inviter}} zaprasza"}}}}}
    """

  /// Runs a test on invitations of its own.
  static func run(_ test: (InvitationFixture) async throws -> Void) async throws {
    let engine = try TestStore.open()
    let clock = AdjustableClock(frozenAt: start)
    let database = try Database(engine: engine, participants: [], clock: clock)
    let invitations = try InvitationService(
      engine: engine, writer: database, home: TestNamespace(database: database), clock: clock, random: SplitMix64(seed: 8))
    let outcome: Result<Void, any Error>
    do {
      try await invitations.put(try InvitationSettings(document: settings))
      outcome = .success(
        try await test(InvitationFixture(database: database, clock: clock, invitations: invitations)))
    } catch {
      outcome = .failure(error)
    }
    database.shutDown()
    engine.close()
    try outcome.get()
  }

  struct TestNamespace: InvitationNamespace {
    let database: Database
    func known() -> NamespaceID? { database.namespace(named: "game") }
    func open() async throws(CommitError) -> NamespaceID { try await database.openNamespace(named: "game") }
  }

  /// What an invitation of Alice's says.
  func content(
    _ channel: InvitationChannel, locales: [String] = [], inviter: String = "Alice <b>", message: String? = nil
  ) throws -> InvitationContent {
    try invitations.content(
      channel, campaign: "default", locales: locales, inviter: inviter, message: message, link: Self.link)
  }

  /// Sends a mail in a player's name.
  @discardableResult
  func send(_ recipient: String, as sender: String = "alice") async throws -> InvitationRecord {
    try await invitations.send(
      InvitationDraft(
        id: invitations.newID(), content: content(.email), campaign: "default", locale: "en", sender: sender,
        recipient: try invitations.checked(recipient: recipient), unsubscribe: "https://go.acme.test/unsubscribe"))
  }

  /// The mails that wait in the outbox.
  func mails() throws -> [MailOrder] {
    let namespace = try #require(database.namespace(named: "game"))
    let rows = try database.engine.read { snapshot in
      try snapshot.outbox(in: namespace, state: .waiting, after: nil, limit: 100)
    }
    return try rows.map { try MailOrder(payload: $0.payload) }
  }
}
