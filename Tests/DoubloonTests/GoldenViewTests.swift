import Foundation
import TestSupport
import Testing
import TreeModel

@testable import Doubloon

/// What this library draws is what the server's previews draw: the messages of `Tests/Golden`, which the server's own tests compare
/// with its answers.
@Suite struct GoldenViewTests {
  private static func golden(_ name: String) -> String {
    let tests = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
    return String(decoding: (try? DiskFiles.bytes("\(tests)/Golden/\(name)")) ?? [], as: UTF8.self)
  }

  private static let pairs: [JSON] = golden("views.jsonl").split(separator: "\n").compactMap {
    try? JSONParser.parse(String($0))
  }

  /// An answer without messages, with the times that the server decides.
  private static let settings: JSON? = golden("fetch-own.txt").split(separator: "\n== ").first.flatMap { answer in
    let json = try? JSONParser.parse(String(answer.drop { $0 != "{" }))
    return json?["doubloon"]?["settings"].map { ["messages": [], "doubloon": ["settings": $0]] }
  }

  @Test("forty messages look to the library as to the server")
  func views() throws {
    #expect(Self.pairs.count == 40)
    for pair in Self.pairs {
      let (message, view) = (try #require(pair["message"]), try #require(pair["view"]))
      let campaign = try #require(MessageCampaign(message), "\(message)")
      let (content, name) = (campaign.content, campaign.name)
      #expect(Self.layout(content.type) == view["layout"]?.string, "\(name)")
      #expect(content.title == view["title"]?.string && content.body == view["body"]?.string, "\(name)")
      let images = (view["images"]?.array ?? []).compactMap { $0["url"]?.string }
      #expect([content.image, content.landscapeImage].compactMap(\.self) == images, "\(name)")
      #expect(
        images.isEmpty || campaign.presentation.imageDescription == view["images"]?.array?.first?["alt"]?.string, "\(name)")
      #expect(campaign.presentation.language == view["language"]?.string, "\(name)")
      #expect(campaign.presentation.isRightToLeft == (view["direction"] == "rtl"), "\(name)")
      if content.type != .imageOnly {
        #expect(content.textColor == view["colors"]?["text"]?.string, "\(name)")
        #expect(content.background == view["colors"]?["background"]?.string, "\(name)")
      }
      buttons(content, view, name)
      try reading(campaign, view)
    }
  }

  /// Where it stands, what a screen reader hears, when it counts as seen, and when it goes by itself.
  private func reading(_ campaign: MessageCampaign, _ view: JSON) throws {
    let display = MessageModel.Display(number: 1, campaign: campaign)
    let message = InAppMessagingDisplayMessage.make(display, pictures: MessagePictures())
    #expect((message.placement == .top ? "top" : "centre") == view["placement"]?.string, "\(campaign.name)")
    let spoken = try #require(view["accessibility"])
    #expect(message.accessibilityLabel == spoken["label"]?.string, "\(campaign.name)")
    #expect(.bool(message.isModal) == spoken["isModal"] && .bool(!message.isModal) == spoken["announces"], "\(campaign.name)")
    var device = MessageModelTests.Device()
    let answer = try #require(Self.settings).compactText
    device.run { $0.fetched(answer, asked: [], now: $1) }
    device.run { $0.begin(campaign, now: $1) }
    device.run { [number = device.number] in $0.loaded(number, failure: nil, now: $1) }
    let timing = try #require(view["timing"])
    let shown = device.model.showing?.display.campaign.presentation
    #expect(shown?.dismissAfter == timing["dismissAfter"]?.double, "\(campaign.name)")
    #expect(device.model.wakes(after: device.now) == timing["impressionSeconds"]?.int.map { $0 * 1000 }, "\(campaign.name)")
  }

  private func buttons(_ content: MessageCampaign.Content, _ view: JSON, _ name: String) {
    func drawn(_ role: String) -> JSON? { view["buttons"]?.array?.first { $0["role"]?.string == role } }
    for (role, button, url) in [
      ("primary", content.primary, content.primaryURL), ("secondary", content.secondary, content.secondaryURL),
    ] {
      #expect(button?.buttonText == drawn(role)?["text"]?.string, "\(name) \(role)")
      guard let button else { continue }
      #expect(button.buttonTextColor == drawn(role)?["textColor"]?.string, "\(name) \(role)")
      #expect(url?.absoluteString == drawn(role)?["action"]?.string, "\(name) \(role)")
      if role == "primary" { #expect(button.buttonBackgroundColor == drawn(role)?["background"]?.string, "\(name)") }
    }
    if content.primary == nil { #expect(content.primaryURL?.absoluteString == view["action"]?.string, "\(name)") }
    #expect((drawn("close") == nil) == (content.type == .card && content.secondary != nil), "\(name)")
  }

  private static func layout(_ type: InAppMessagingDisplayMessageType) -> String {
    switch type {
    case .card: "card"
    case .modal: "modal"
    case .banner: "banner"
    case .imageOnly: "imageOnly"
    }
  }
}
