import Foundation
import TestSupport
import Testing
import TreeModel

@testable import Doubloon

/// What this library draws is what the server's previews draw: the messages of `Tests/Golden`, which the server's own tests compare
/// with its answers.
@Suite struct GoldenViewTests {
  private static let pairs: [JSON] = {
    let tests = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
    let bytes = (try? DiskFiles.bytes("\(tests)/Golden/views.jsonl")) ?? []
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONParser.parse(String(decoding: $0, as: UTF8.self)) }
  }()

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
    }
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
