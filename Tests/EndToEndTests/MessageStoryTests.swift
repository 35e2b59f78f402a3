import Dispatch
import Doubloon
import DoubloonTesting
import Foundation
import Functions
import FunctionsKit
import Messages
import StorageCore
import Synchronization
import TestSupport
import Testing
import TreeModel
import Triggers

@testable import AdminClient
@testable import ServerApp

/// "You earned 50 pieces of eight!": from the level that a friend reaches to the screen of who invited the friend, without a line of
/// code in between.
@Suite(.serialized) struct MessageStoryTests {
  private static let earned: JSON = [
    "id": "earned50", "name": "You earned 50", "layout": "modal", "frequency": ["lifetime": 100],
    "triggers": [["server": "reward", "where": ["amount": [">=": 50]]]],
    "content": [
      "defaultLanguage": "en", "primaryAction": "https://example.com/invite",
      "texts": [
        "en": [
          "title": "You earned {{amount}} pieces of eight!", "body": "Thanks to {{invitee|your friends}}.",
          "primary": "Invite more",
        ]
      ],
    ],
  ]
  private static let level: Path = "/users/bob/level"

  private func eventually(_ holds: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
      if try await holds() { return }
      await Task.yield()
    }
    throw NeverCame()
  }

  // MARK: In the open game

  private static func app(_ server: RunningServer) throws -> DoubloonApp {
    let options = FirebaseOptions(server: try #require(URL(string: server.address)), apiKey: "any")
    options.storageFolder = server.folder.file("alice's telephone")
    options.callbackQueue = DispatchQueue(label: "story")
    options.logHandler = { _ in }
    DoubloonApp.configure(name: "story", options: options)
    return try #require(DoubloonApp.app(name: "story"))
  }

  @Test("when bob goes from level 4 to level 5, the game that alice has open says what she earned, once")
  func story() async throws {
    try await RunningServer.run { server in
      // An hour between fetches: what comes sooner comes by the stream.
      _ = try await server.client.put("/admin/v1/messages/settings", ["fetchInterval": "1h"])
      _ = try await server.client.post("/admin/v1/messages", Self.earned)
      _ = try await server.client.post("/admin/v1/messages/earned50/publish", [:])
      let app = try Self.app(server)
      let alice = try await Auth.auth(app: app).signInAnonymously().user
      let lines = Mutex<[String]>([])
      let display = TextDisplay { line in lines.withLock { $0.append(line) } }
      let messages = InAppMessaging.inAppMessaging(app: app)
      messages.messageDisplayComponent = display
      messages.applicationDidBecomeActive()
      try await eventually { server.application.messages.hub.count == 1 }
      #expect(display.message == nil)

      let bob: JSON = ["name": "Bob", "referred_by": .string(alice.uid), "level": 4]
      _ = try await server.client.put("/users/bob.json", bob)
      _ = try await server.client.put("/users/bob/level.json", 5)
      let said = ["Message: You earned 50 pieces of eight!", "  Thanks to your friends.", "  1. Invite more"]
      try await eventually { lines.withLock { $0 } == said }
      let coins = TreePath<Int64, UserID>("/users/{uid}/inventory/pieces_of_eight")
      // A listener waits for the connection for as long as it takes; a read would be given up.
      var values = try Database.database(app: app).reference(to: coins, #require(UserID(alice.uid))).values.makeAsyncIterator()
      #expect(try await values.next() == .some(50))

      display.close()
      try await eventually { try server.application.messages.events(of: alice.uid).contains { $0.shownAt != nil } }
      _ = try await server.client.put("/users/bob/level.json", 4)
      _ = try await server.client.put("/users/bob/level.json", 5)
      _ = try await server.client.post("/admin/v1/drain")
      #expect(try server.application.messages.events(of: alice.uid).count == 1)
      #expect(lines.withLock { $0 } == said)
      Database.database(app: app).goOffline()
      await app.delete()
    }
  }

  // MARK: Whatever happens on the way

  /// What a player's device gets now.
  private func fetch(
    _ server: TestServer, of uid: String = "alice", on device: String = "cAAAAAAAAAAAAAAAAAAAAA"
  ) async throws -> MessageAnswer {
    var client = MessageClient(instance: device)
    (client.uid, client.isOwn, client.language) = (uid, true, "en")
    return try await server.application.messages.serve(client) { _ in true }
  }

  private func publish(_ document: JSON, on server: TestServer) async throws {
    let campaign = try await server.application.messages.create(document, by: .admin("test"))
    _ = try await server.application.messages.publish(campaign.id, by: .admin("test"))
  }

  @Test(
    "a reward that is redelivered, replayed, and interrupted by the end of the process is told once",
    arguments: [nil, .committedNotDispatched, .inHandler, .effectSubmitted, .effectDurable] as [Failpoint.Point?])
  func once(_ point: Failpoint.Point?) async throws {
    let tree: TreeNode = ["users": ["bob": ["level": 4, "referred_by": "alice"]]]
    try await TestServer.run(registerFunctions, tree: tree) { server in
      try await publish(Self.earned, on: server)
      if let point {
        try await server.crash(at: point) { try await server.set(Self.level, 5) }
        // The same step once more: it was paid.
        try await server.set(Self.level, 4)
      }
      let write = try await server.set(Self.level, 5)
      try await server.redeliver(write, times: 3)
      try await server.replay(server.order(.all))
      try await server.expectEntries(1)
      let answer = try await fetch(server)
      #expect(answer.pending.count == 1 && answer.messages.map(\.texts.title) == ["You earned 50 pieces of eight!"])
      let event = try #require(answer.pending.first)
      var report = MessageReport(
        .impression, campaign: "earned50", instance: "cAAAAAAAAAAAAAAAAAAAAA", time: server.clock.now())
      report.event = event.id
      #expect(try await server.application.messages.take([report]) == 1)
      try await server.redeliver(write, times: 3)
      try await server.replay(server.order(.all))
      try await server.restart()
      for device in ["cAAAAAAAAAAAAAAAAAAAAA", "cBBBBBBBBBBBBBBBBBBBBB"] {
        let after = try await fetch(server, on: device)
        #expect(after.messages.isEmpty && after.pending.isEmpty, "\(device)")
      }
      #expect(try server.application.messages.events(of: "alice").map(\.id) == [event.id])
    }
  }

  @Test("a reward that was paid before a campaign waited for it is told by no replay")
  func before() async throws {
    let tree: TreeNode = ["users": ["bob": ["level": 4, "referred_by": "alice"]]]
    try await TestServer.run(registerFunctions, tree: tree) { server in
      let write = try await server.set(Self.level, 5)
      try await publish(Self.earned, on: server)
      try await server.redeliver(write, times: 2)
      try await server.replay(server.order(.all))
      #expect(try await fetch(server).messages.isEmpty)
      #expect(try server.application.messages.events(of: "alice").isEmpty)
    }
  }

  @Test("what a function says of a player is shown with its values, once, also where its event comes again")
  func said() async throws {
    try await TestServer.run(FunctionsGuideTests.crewRewards) { server in
      try await publish(
        [
          "id": "record", "name": "A record", "layout": "banner", "triggers": [["server": "raid_record"]],
          "content": ["defaultLanguage": "en", "texts": ["en": ["title": "Your best raid: {{loot}}!"]]],
        ], on: server)
      try await server.set("/crew/jim/loot/first", 60)
      #expect(try server.application.messages.events(of: "jim").isEmpty)
      let write = try await server.set("/crew/jim/loot/second", 1200)
      try await server.redeliver(write, times: 2)
      try await server.replay(server.order(.all))
      #expect(try server.application.messages.events(of: "jim").map(\.name) == ["raid_record"])
      #expect(try await fetch(server, of: "jim").messages.map(\.texts.title) == ["Your best raid: 1,200!"])
      #expect(try await fetch(server, of: "ben", on: "cBBBBBBBBBBBBBBBBBBBBB").messages.isEmpty)
    }
  }
}
