import Ledger
import Messages
import RewardModel
import StorageCore
import StorageSQLite
import StorageTestSupport
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// Messages on a store in memory, with a ledger beside them, and a clock that stands still.
struct MessageFixture: Sendable {
  let database: Database
  let clock: AdjustableClock
  let messages: MessageService
  let ledger: LedgerService

  /// 2023-11-14 22:13:20 UTC.
  static let start: Int64 = 1_700_000_000_000
  static let instance = "cAAAAAAAAAAAAAAAAAAAAA"
  static let admin = Actor.admin("test")
  static let day: Int64 = 86_400_000

  /// Runs a test on messages of its own.
  ///
  /// - `linkHosts`: the only hosts that links may lead to; empty where there is no such list.
  static func run(
    isDevelopment: Bool = true, campaignsMax: Int = 1000, reportLimit: RateLimit? = nil, linkHosts: Set<String> = [],
    _ test: (MessageFixture) async throws -> Void
  ) async throws {
    let engine = try TestStore.open()
    let clock = AdjustableClock(frozenAt: start)
    let waiting = WaitingCampaigns()
    let hub = MessageHub(waiting: waiting)
    let currencies = try CurrencyTable([.piecesOfEight])
    let referrer: PathPattern = "/users/{uid}/referred_by"
    let database = try Database(
      engine: engine,
      participants: [LedgerParticipant(table: currencies), MessageParticipant(waiting: waiting, referrer: referrer)],
      observers: [hub], clock: clock)
    var options = MessageOptions()
    (options.referrer, options.isDevelopment, options.campaignsMax) = (referrer, isDevelopment, campaignsMax)
    if let reportLimit { options.reportLimit = reportLimit }
    let messages = try MessageService(
      engine: engine, writer: database, home: TestNamespace(database: database), clock: clock, random: SplitMix64(seed: 7),
      surroundings: surroundings(linkHosts), hub: hub, options: options)
    let ledger = LedgerService(engine: engine, writer: database, currencies: currencies)
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(
        try await test(MessageFixture(database: database, clock: clock, messages: messages, ledger: ledger)))
    } catch {
      outcome = .failure(error)
    }
    database.shutDown()
    engine.close()
    try outcome.get()
  }

  private static func surroundings(_ hosts: Set<String>) -> CampaignSurroundings {
    var surroundings = CampaignSurroundings(zones: zones)
    if !hosts.isEmpty { surroundings.allowsLink = { text in hosts.contains { text.hasPrefix("https://\($0)/") } } }
    return surroundings
  }

  /// The machine's time zones.
  static let zones = ZoneFiles { try? DiskFiles.bytes("/usr/share/zoneinfo/\($0)") }

  struct TestNamespace: MessageNamespace {
    let database: Database
    func known() -> NamespaceID? { database.namespace(named: "game") }
    func open() async throws(CommitError) -> NamespaceID { try await database.openNamespace(named: "game") }
  }

  /// A document of a modal message, with members changed or, as null, left out.
  static func document(_ changes: JSON = [:]) -> JSON {
    let plain: JSON = [
      "id": "hello", "name": "Hello", "layout": "modal",
      "content": ["defaultLanguage": "en", "texts": ["en": ["title": "Hello"], "pl": ["title": "Witaj"]]],
      "triggers": [["on": "foreground"]],
    ]
    var members = plain.object ?? []
    for change in changes.object ?? [] {
      members.removeAll { $0.key == change.key }
      if !change.value.isNull { members.append(change) }
    }
    return .object(members)
  }

  /// An installation's id that is unlike those of other numbers.
  static func instance(_ number: Int) -> String { "c\(String(repeating: "A", count: 16))\(10_000 + number)" }

  /// Creates and publishes a campaign.
  @discardableResult
  func publish(_ changes: JSON = [:]) async throws -> Campaign {
    let campaign = try await messages.create(Self.document(changes), by: Self.admin)
    return try await messages.publish(campaign.id, by: Self.admin)
  }

  static let reward: JSON = [
    "id": "earned", "name": "Earned", "triggers": [["server": "reward", "where": ["amount": [">=": 50]]]],
    "frequency": ["lifetime": 100],
    "content": [
      "defaultLanguage": "en",
      "texts": ["en": ["title": "You earned {{amount}} {{currency|coins}}!", "body": "Thanks to {{inviter|a friend}}."]],
    ],
  ]

  /// What a client gets, by id.
  func fetch(
    uid: String? = nil, instance: String = instance, change: (inout MessageClient) -> Void = { _ in }
  ) async throws -> MessageAnswer {
    var client = MessageClient(instance: instance)
    (client.uid, client.isOwn, client.language) = (uid, true, "en-GB")
    change(&client)
    return try await messages.serve(client) { _ in true }
  }

  func ids(uid: String? = nil, instance: String = instance, change: (inout MessageClient) -> Void = { _ in }) async throws
    -> [String]
  {
    try await fetch(uid: uid, instance: instance, change: change).messages.map(\.campaign.id)
  }

  /// Pays a player.
  @discardableResult
  func pay(_ uid: String, _ amount: Int64, key: String, subject: String? = nil) async throws -> LedgerEntry {
    let namespace = try await database.openNamespace(named: "game")
    var request = CommitRequest(namespace: namespace, actor: .function("level5"))
    request.ledger.transfers = [
      LedgerTransfer(
        debit: .issuance("level5"), credit: LedgerAccount("user:\(uid)"), amount: amount, unit: Currency.piecesOfEight.unit,
        code: "level5", key: BusinessKey(key), function: "level5", subject: subject)
    ]
    return try #require(try await database.commit(request).entries.first)
  }

  /// Reports a display.
  @discardableResult
  func show(_ campaign: String = "hello", instance: String = instance, event: String? = nil, key: String? = nil)
    async throws -> Int
  {
    var report = MessageReport(.impression, campaign: campaign, instance: instance, time: clock.now())
    (report.event, report.key) = (event, key)
    return try await messages.take([report])
  }
}
