import ClientRuntime
import Foundation
import TestSupport
import Testing

@testable import Doubloon

/// Options, their sources, and what an app keeps.
@Suite struct AppTests {
  @Test("the configuration is that of the variable, then Doubloon.json, then the property list")
  func sources() throws {
    let folder = TemporaryFolder()
    #expect(ConfigurationFile.options(environment: [:], folders: [folder.path]) == nil)
    let plist = """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict>
      <key>DATABASE_URL</key><string>https://treasure-default-rtdb.acme.test</string>
      <key>API_KEY</key><string>from-plist</string><key>BUNDLE_ID</key><string>test.acme.ios</string>
      </dict></plist>
      """
    try folder.write(plist, to: "GoogleService-Info.plist")
    let third = try #require(ConfigurationFile.options(environment: [:], folders: [folder.path]))
    #expect(third.apiKey == "from-plist")
    #expect(third.bundleID == "test.acme.ios")
    #expect(third.projectID == "treasure")
    #expect(third.address?.description == "https://treasure-default-rtdb.acme.test")
    try folder.write(#"{"server":"http://127.0.0.1:9000","apiKey":"from-json"}"#, to: "Doubloon.json")
    #expect(ConfigurationFile.options(environment: [:], folders: [folder.path])?.apiKey == "from-json")
    try folder.write(#"{"server":"http://127.0.0.1:9001","apiKey":"named"}"#, to: "named.json")
    let environment = ["DOUBLOON_CONFIG": folder.file("named.json")]
    #expect(ConfigurationFile.options(environment: environment, folders: [folder.path])?.apiKey == "named")
  }

  @Test(
    "a file that is none is passed over",
    arguments: [
      "", "{", "[]", #"{"server":7}"#, #"{"server":"nonsense"}"#, #"{"server":"ftp://a.test"}"#, #"{"apiKey":"k"}"#,
      #"{"server":"http://u:p@a.test"}"#, #"{"server":"http://a.test:99999"}"#,
    ])
  func badFiles(text: String) throws {
    let folder = TemporaryFolder()
    try folder.write(text, to: "Doubloon.json")
    #expect(ConfigurationFile.options(environment: [:], folders: [folder.path]) == nil)
  }

  @Test("a second app of the name is ignored, with a line; a deleted one is forgotten")
  func configure() async throws {
    let lines = Locked<[String]>([])
    let url = try webURL("http://127.0.0.1:9")
    let options = FirebaseOptions(server: url, apiKey: "first")
    let folder = TemporaryFolder()
    options.storageFolder = folder.path
    options.logHandler = { line in lines.withLock { $0.append(line) } }
    FirebaseApp.configure(name: "twice", options: options)
    let app = try #require(FirebaseApp.app(name: "twice"))
    options.apiKey = "second"
    FirebaseApp.configure(name: "twice", options: options)
    #expect(FirebaseApp.app(name: "twice") === app)
    #expect(app.options.apiKey == "first")
    #expect(lines.copy.contains { $0.contains("ignored") })
    await app.delete()
    #expect(FirebaseApp.app(name: "twice") == nil)
  }

  @Test("the consent to messages survives a restart; their suppression does not")
  func consent() throws {
    let folder = TemporaryFolder()
    func app() throws -> DoubloonApp {
      let options = FirebaseOptions(server: try webURL("http://127.0.0.1:9"), apiKey: "k")
      options.storageFolder = folder.path
      return DoubloonApp(name: "messages", options: options, runtime: nil)
    }
    let first = try app().messages
    #expect(first.automaticDataCollectionEnabled)
    first.automaticDataCollectionEnabled = false
    first.messageDisplaySuppressed = true
    first.triggerEvent("level_5")
    let second = try app().messages
    #expect(!second.automaticDataCollectionEnabled)
    #expect(!second.messageDisplaySuppressed)
  }

  @Test("a delegate is held weakly, and needs only one of the two forms of a click")
  func delegate() throws {
    final class Clicks: InAppMessagingDisplayDelegate {
      var ids: [String] = []
      func messageClicked(_ inAppMessage: InAppMessagingDisplayMessage) { ids.append(inAppMessage.campaignInfo.messageID) }
    }
    let messages = DoubloonApp.unconfigured.messages
    var clicks: Clicks? = Clicks()
    messages.delegate = clicks
    let campaign = InAppMessagingCampaignInfo(messageID: "c1", campaignName: "Give 50")
    let card = InAppMessagingModalDisplay(campaign: campaign, title: "Hi", bodyText: nil, appData: ["promo": "X50"])
    messages.delegate?.messageClicked(card, with: InAppMessagingAction(actionText: "Go", actionURL: nil))
    messages.delegate?.impressionDetected(for: card)
    #expect(clicks?.ids == ["c1"])
    #expect(card.appData == ["promo": "X50"])
    clicks = nil
    #expect(messages.delegate == nil)
  }
}
