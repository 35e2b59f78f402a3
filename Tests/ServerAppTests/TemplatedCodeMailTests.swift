import MailContent
import StorageCore
import Testing

@testable import Accounts
@testable import ServerApp

@Suite struct TemplatedCodeMailTests {
  private func mail(_ name: String?, locales: [String]) throws -> MailOrder {
    let letter = CodeLetter(
      project: "game", kind: .verifyEmail, to: "victim@example.com", newEmail: nil, displayName: name, locales: locales,
      link: "https://game.example/code")
    let mail = TemplatedCodeMail(templates: TemplateCatalog(defaultLocale: "fr"), appName: "Acme")
    return try MailOrder(payload: try #require(mail.message(for: letter)).payload)
  }

  @Test("a letter is in the first language that there is, or else in the game's")
  func languages() throws {
    #expect(try mail("Ann", locales: ["sv", "de-AT", "en"]).text.hasPrefix("Hallo Ann,\n"))
    #expect(try mail("Ann", locales: ["ja"]).text.hasPrefix("こんにちは、Ann様。\n"))
    #expect(try mail("Ann", locales: []).text.hasPrefix("Bonjour Ann,\n"))
  }

  @Test("a name with an address in it is not shown to whoever gets the letter")
  func names() throws {
    let mail = try mail("You won! Claim at evil.com/prize", locales: ["en"])
    #expect(mail.text.hasPrefix("Hello,\n") && mail.html?.contains("<p>Hello,</p>") == true)
    #expect(!mail.payload.contains("evil"))
  }
}
