import Doubloon
import Foundation

/// The game: who plays, how deep they have dug, and what they have.
final class TreasureHunt: Sendable {
  private let teller = MessageTeller()
  private let screen = TextDisplay { line in print(line) }
  private let links = InvitationLinks()

  /// One command of the player's.
  func run(_ command: String, words: [String]) async throws {
    switch command {
    case "start": try await start()
    case "invite": try await links.invite()
    case "join" where words.count == 1: try await join(.code(words[0]))
    case "open" where words.count == 1: try await open(words[0])
    case "keep" where words.count == 2: try await keep(email: words[0], password: words[1])
    case "dig": try await dig()
    case "purse": try await showPurse()
    case "ways": try links.showWays()
    case "follow": if !screen.follow() { print("There is nothing to follow.") }
    case "close": screen.close()
    default: print("What is \(command)?")
    }
  }

  // MARK: Who plays

  private func start() async throws {
    let player = try await Auth.auth().signInAnonymously()
    print("You are \(player.uid).")
    watchPurse()
  }

  /// A first start, with what a friend gave: one call makes the player and notes the friend.
  private func join(_ proof: InviteProof) async throws {
    let start = try await Referrals.referrals().begin(proof: proof)
    print("You are \(start.user.uid).")
    print(start.claim.map { "\($0.referredBy) invited you." } ?? start.claimProblem ?? "Nobody invited you.")
    watchPurse()
  }

  /// The game was opened by a URL: of its own scheme, or one of the server's links.
  private func open(_ text: String) async throws {
    guard let url = URL(string: text) else { return print("\(text) is no URL.") }
    guard let link = try await links.link(in: url) else { return print("\(text) is none of our links.") }
    let certainty = link.matchConfidence == .weak ? "perhaps" : "for sure"
    print("The link leads to \(link.url?.absoluteString ?? "nowhere"), \(certainty).")
    let items = link.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.queryItems }
    guard Auth.auth().currentUser == nil, let friend = items?.first(where: { $0.name == "invitedby" })?.value else { return }
    let player = try await Auth.auth().signInAnonymously()
    try await place(of: player.uid).child("referred_by").setValue(friend)
    print("You are \(player.uid). \(friend) invited you.")
    watchPurse()
  }

  /// The player gets a way to sign in again, and stays who they are.
  private func keep(email: String, password: String) async throws {
    guard let player = Auth.auth().currentUser else { return print("Type start first.") }
    let credential = EmailAuthProvider.credential(withEmail: email, password: password)
    let kept: Bool = await withCheckedContinuation { continuation in
      player.link(with: credential) { result, error in
        if let error { print("That did not work: \(error.localizedDescription)") }
        continuation.resume(returning: result != nil)
      }
    }
    guard kept else { return }
    let request = player.createProfileChangeRequest()
    request.displayName = email.split(separator: "@").first.map(String.init)
    try await request.commitChanges()
    print("You are still \(player.uid), and \(player.displayName ?? "nameless").")
    // The server rewards the first sign-in.
    try await place(of: player.uid).child("last_signin_at").setValue(ServerValue.timestamp())
  }

  // MARK: Playing

  private func dig() async throws {
    guard let player = Auth.auth().currentUser else { return print("Type start first.") }
    let level = place(of: player.uid).child("level")
    let (isDone, now) = try await level.runTransactionBlock { data in
      data.value = (data.value as? Int ?? 1) + 1
      return .success(withValue: data)
    }
    if isDone { print("You are on level \(now.int ?? 0).") }
    InAppMessaging.inAppMessaging().triggerEvent("level_\(now.int ?? 0)")
    Analytics.logEvent("level_up", parameters: ["level": now.int ?? 0])
  }

  private func showPurse() async throws {
    guard let player = Auth.auth().currentUser else { return print("Type start first.") }
    let coins = try await purse(of: player.uid).getData()
    print("You have \(coins.int ?? 0).")
  }

  /// Says what the player has, whenever it changes.
  func watchPurse() {
    guard let player = Auth.auth().currentUser else { return }
    purse(of: player.uid).observe(.value) { coins in
      if let count = coins.int { print("Purse: \(count)") }
    }
  }

  private func place(of uid: String) -> DatabaseReference { Database.database().reference().child("users").child(uid) }
  private func purse(of uid: String) -> DatabaseReference { place(of: uid).child("inventory").child("pieces_of_eight") }

  /// Messages of campaigns, unless the player wants none.
  func showMessages() {
    let messages = InAppMessaging.inAppMessaging()
    messages.delegate = teller
    messages.messageDisplayComponent = screen
    messages.onOpenURL = { url in print("It leads to \(url.absoluteString).") }
    messages.automaticDataCollectionEnabled = ProcessInfo.processInfo.environment["GAME_NO_MESSAGES"] == nil
    messages.messageDisplaySuppressed = false
    // A terminal has no window that comes to the front: the player is there as long as the program runs.
    messages.applicationDidBecomeActive()
  }
}

/// Says what becomes of messages.
final class MessageTeller: InAppMessagingDisplayDelegate, Sendable {
  func messageClicked(_ inAppMessage: InAppMessagingDisplayMessage) {
    let promo = inAppMessage.appData?["promo"] ?? ""
    print("You followed \(inAppMessage.campaignInfo.campaignName). \(promo)")
  }

  func messageDismissed(_ inAppMessage: InAppMessagingDisplayMessage, dismissType: InAppMessagingDismissType) {
    print("You closed \(inAppMessage.campaignInfo.campaignName): \(dismissType).")
  }

  func impressionDetected(for inAppMessage: InAppMessagingDisplayMessage) {
    print("You saw \(inAppMessage.campaignInfo.campaignName).")
  }

  func displayError(for inAppMessage: InAppMessagingDisplayMessage, error: any Error) {
    print("\(inAppMessage.campaignInfo.campaignName) cannot be shown: \(error.localizedDescription)")
  }
}
