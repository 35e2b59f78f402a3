import Doubloon
import Foundation

/// The page Offline.
enum Offline {
  static func run() async throws {
    let database = Database.database()
    database.isPersistenceEnabled = true
    database.persistenceCacheSizeBytes = 20 << 20

    let player = try await Auth.auth().signInAnonymously().user
    let place = database.reference(withPath: "players/\(player.uid)")
    place.keepSynced(true)
    try await place.child("steps").setValue(10)

    database.goOffline()
    let receipt = place.child("steps").write(ServerValue.increment(1))
    do {
      try await receipt.acknowledged(timeout: 0.2)
    } catch DatabaseError.timedOut {
      print("no connection: the write is kept, and goes on by itself")
    }

    let shown = try await place.child("steps").getData()
    print("the player sees \(shown.int ?? 0)")

    database.goOnline()
    try await receipt.acknowledged()
    let steps = try await place.child("steps").getData(source: .server)
    print("the server has \(steps.int ?? 0)")
  }
}
