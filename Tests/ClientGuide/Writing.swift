import Doubloon
import Foundation

/// The page Writing.
enum Writing {
  static func run() async throws {
    let player = try await Auth.auth().signInAnonymously().user
    let place = Database.database().reference(withPath: "players/\(player.uid)")

    try await place.setValue(["name": "Ann", "level": 1, "gems": 5])
    try await place.updateChildValues(["name": "Anna", "seen/at": ServerValue.timestamp(), "visits": ServerValue.increment(1)])

    let receipt = place.child("level").write(2)
    for await state in receipt.states {
      switch state {
      case .queued: print("it waits for the connection")
      case .sent: print("it is on its way")
      case .acknowledged: print("the server did it")
      case .refused(let error): print("it was refused: \(error.localizedDescription)")
      case .superseded: print("it was withdrawn")
      }
    }

    let (isPaid, gems) = try await place.child("gems").runTransactionBlock { data in
      guard let gems = data.value as? Int else { return .success(withValue: data) }
      if gems < 3 { return .abort() }
      data.value = gems - 3
      return .success(withValue: data)
    }
    print(isPaid ? "paid, \(gems.int ?? 0) are left" : "too few")

    let (_, level) = try await place.child("level").transaction(as: Int.self) { level in (level ?? 1) + 1 }
    print("level \(level.int ?? 0)")

    let online = place.child("online")
    for try await connected in Database.database().reference(withPath: ".info/connected").snapshots
    where connected.bool == true {
      try await online.onDisconnectSetValue(false)
      try await online.setValue(true)
      print("the others see that Ann is here")
      break
    }
  }
}
