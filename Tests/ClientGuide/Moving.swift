import Doubloon
import Foundation

/// The page MovingFromFirebase: code as it was, with another import.
enum Moving {
  static func run() async {
    await withCheckedContinuation { continuation in
      begin { line in
        print(line)
        continuation.resume()
      }
    }
  }

  static func begin(_ show: @escaping @Sendable (String) -> Void) {
    Auth.auth().signInAnonymously { result, error in
      guard let user = result?.user, error == nil else { return }
      let place = Database.database().reference().child("users").child(user.uid)
      place.child("last_signin_at").setValue(ServerValue.timestamp())
      place.child("level").setValue(1) { error, place in
        if error == nil { show("written at \(place.key ?? "")") }
      }
    }
  }
}
