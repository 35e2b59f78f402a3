import Doubloon
import Foundation

/// A player, as the tree holds one.
struct Player: Codable {
  var name: String
  var born: Date
}

/// Values by the types of their paths, and dates as the tree has them: the pages Reading and TestingAnApp.
enum Typed {
  static func run() async throws {
    let place = Database.database().reference(withPath: "people/ann")
    try await place.setValue(["name": "Ann", "born": 86_400_000])
    print("born \(Int(try born(await place.getData()).timeIntervalSince1970))")

    let display = TextDisplay { line in print(line) }
    InAppMessaging.inAppMessaging().messageDisplayComponent = display
    print(display.message == nil ? "no message yet" : "a message")
  }

  static func born(_ snapshot: DataSnapshot) throws -> Date {
    let decoder = Database.Decoder()
    decoder.dateDecodingStrategy = .millisecondsSince1970
    let player = try snapshot.data(as: Player.self, decoder: decoder)
    return player.born
  }

  static func follow(_ database: Database, _ player: UserID) async throws {
    enum Users {
      static let level = TreePath<Int, UserID>("/users/{uid}/level")
    }
    let level = database.reference(to: Users.level, player)
    try await level.set(5)
    for try await value in level.values { print(value ?? 0) }
  }
}
