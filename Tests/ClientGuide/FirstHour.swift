import Doubloon
import Foundation

/// The page FirstHour: two players, each a run of this program.
enum FirstHour {
  static func configure(server: URL) {
    let options = FirebaseOptions(server: server, apiKey: "game-key")
    options.bundleID = "com.example.game"
    options.dynamicLinkDomains = ["https://go.example.com/r"]
    options.callbackQueue = DispatchQueue(label: "game")
    FirebaseApp.configure(options: options)
  }

  static func alice() async throws {
    let alice = try await Auth.auth().signInAnonymously().user
    print("Alice is \(alice.uid)")

    guard let page = URL(string: "https://example.com/play?invitedby=\(alice.uid)"),
      let builder = DynamicLinkComponents(link: page, domainURIPrefix: "https://go.example.com/r")
    else { return }
    builder.iOSParameters = DynamicLinkIOSParameters(bundleID: "com.example.game")
    let invitation = try await builder.invitation()
    print("The link is \(invitation.link), the code \(invitation.code ?? "none")")

    let purse = Database.database().reference(withPath: "users/\(alice.uid)/inventory/pieces_of_eight")
    for try await coins in purse.snapshots {
      print("Alice has \(coins.int ?? 0)")
      if coins.int == 50 { break }
    }

    let brought = try await Referrals.referrals().own()
    for referral in brought.referrals { print("Alice brought \(referral.player): \(referral.state)") }
  }

  static func bob(code: String) async throws {
    let start = try await Referrals.referrals().begin(proof: .code(code))
    let bob = start.user
    print("Bob is \(bob.uid), invited by \(start.claim?.referredBy ?? "nobody")")

    let credential = EmailAuthProvider.credential(withEmail: "bob@example.com", password: "correct horse")
    switch try await bob.upgrade(with: credential) {
    case .linked(let user): print("Bob is still \(user.uid)")
    case .taken: print("That address has an account already")
    }

    let place = Database.database().reference(withPath: "users/\(bob.uid)")
    try await place.child("last_signin_at").setValue(ServerValue.timestamp())
    for try await coins in place.child("inventory/pieces_of_eight").snapshots where coins.int == 50 {
      print("Bob has 50")
      break
    }

    for _ in 2...5 {
      let (_, level) = try await place.child("level").runTransactionBlock { data in
        data.value = (data.value as? Int ?? 1) + 1
        return .success(withValue: data)
      }
      print("Bob is on level \(level.int ?? 0)")
    }
  }
}

/// The front page.
enum Overview {
  static func run(url: URL, show: (Int) -> Void) async throws {
    FirebaseApp.configure(options: FirebaseOptions(server: url, apiKey: "web-key-1"))
    let start = try await Referrals.referrals().begin(proof: .code("K7QW2M"))
    let purse = Database.database().reference(withPath: "users/\(start.user.uid)/inventory/pieces_of_eight")
    for try await coins in purse.snapshots { show(coins.int ?? 0) }
  }

  static func start(url: URL) async throws -> User {
    FirebaseApp.configure(options: FirebaseOptions(server: url, apiKey: "web-key-1"))
    let player = try await Auth.auth().signInAnonymously().user
    return player
  }
}
