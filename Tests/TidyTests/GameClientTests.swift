import Testing

/// `Examples/GameClient` shows every call that a game which was written for Firebase's SDK makes: who moves finds each there.
@Suite struct GameClientTests {
  /// The symbols, as they stand in code.
  static let symbols = [
    // The app
    "import Doubloon", "FirebaseApp.configure()", "FirebaseOptions.defaultOptions()", ".deepLinkURLScheme = ",
    // Accounts
    "Auth.auth().currentUser", ".uid", ".displayName", ".signInAnonymously()",
    "EmailAuthProvider.credential(withEmail:", ".link(with:",
    // The database
    "Database.database().reference()", ".child(", ".setValue(", "ServerValue.timestamp()", ".observe(.value",
    // Making links
    "DynamicLinkComponents(link:", "domainURIPrefix:", "domain:", "builder.link", ".url",
    "DynamicLinkIOSParameters(bundleID:", ".minimumAppVersion = ", ".appStoreID = ",
    "DynamicLinkAndroidParameters(packageName:", ".minimumVersion = ",
    "DynamicLinkGoogleAnalyticsParameters(source:", ".analyticsParameters = ",
    "DynamicLinkItunesConnectAnalyticsParameters()", ".iTunesConnectParameters", ".providerToken = ", ".campaignToken = ",
    "DynamicLinkSocialMetaTagParameters()", ".socialMetaTagParameters", ".title = ", ".descriptionText = ", ".imageURL = ",
    ".options = DynamicLinkComponentsOptions()", ".pathLength = .short", ".shorten {", "DynamicLinkComponents.shortenURL(url:",
    // Reading links
    "DynamicLinks.dynamicLinks()", ".shouldHandleDynamicLink(fromCustomSchemeURL:", ".dynamicLink(fromCustomSchemeURL:",
    ".handleUniversalLink(", ".matchConfidence == .weak", ".invitationID",
    // Inviting
    "InviteContent(subject:", "body:", "any InvitePresenting", ".name", ".icon", ".isAvailable", ".content", ".sendInvite()",
    "Referrals.referrals().begin(proof:",
    // Messages
    "InAppMessagingDisplayDelegate", "func messageClicked(", "func messageDismissed(", "func impressionDetected(",
    "func displayError(", ".appData", "InAppMessaging.inAppMessaging()", ".delegate = ", ".triggerEvent(",
    ".messageDisplayComponent = ", "TextDisplay", ".applicationDidBecomeActive()", "Analytics.logEvent(",
    ".messageDisplaySuppressed = ", ".automaticDataCollectionEnabled = ",
  ]

  static let code = Repository.swiftFiles.filter { $0.path.hasPrefix("Examples/GameClient/Sources/") }

  @Test("every symbol is used", arguments: symbols)
  func used(_ symbol: String) {
    #expect(Self.code.contains { !$0.lines(holding: symbol).isEmpty }, "Examples/GameClient has no \(symbol)")
  }

  @Test("a symbol that nobody uses is found missing, and one in a comment does not count")
  func rule() {
    #expect(!Self.code.isEmpty)
    #expect(Self.code.allSatisfy { $0.lines(holding: "neverUsedAnywhere(").isEmpty })
    let file = SwiftFile(
      path: "Examples/GameClient/Sources/A.swift", text: "// Auth.auth().currentUser\nlet a = \"Auth.auth()\"")
    #expect(file.lines(holding: "Auth.auth()").isEmpty)
  }
}
