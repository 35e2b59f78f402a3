import Accounts
import ServerTestSupport
import Synchronization
import Testing
import TreeModel

@testable import IdentityAPI

/// What browsers see behind the links of mails.
struct ActionPageTests {
  private final class Mailbox: CodeMailing {
    private let letters = Mutex<[CodeMail]>([])
    func message(for letter: CodeMail) -> (outlet: String, payload: String)? {
      letters.withLock { $0.append(letter) }
      return ("mail", "{}")
    }
    func last() throws -> CodeMail { try #require(letters.withLock { $0.last }) }
  }

  private static let html = "text/html,application/xhtml+xml;q=0.9"

  /// Follows links as a browser does whose reader speaks German.
  private struct Browser {
    let server: APIServer
    var languages = "de-AT,de;q=0.9,en;q=0.5"

    func open(_ link: String) async throws -> RawResponse {
      try await server.send("GET", try path(link), headers: ["Accept": ActionPageTests.html, "Accept-Language": languages])
    }

    /// Presses the button: a form without fields has an empty body.
    func press(_ link: String, _ form: String = "") async throws -> RawResponse {
      let headers = [
        "Accept": ActionPageTests.html, "Accept-Language": languages, "Content-Type": "application/x-www-form-urlencoded",
        "Origin": "null",
      ]
      return try await server.send("POST", try path(link), form, headers: headers)
    }

    private func path(_ link: String) throws -> String {
      let place = "https://rewards.example"
      try #require(link.hasPrefix(place + "/__/auth/action?"))
      return String(link.dropFirst(place.count))
    }
  }

  private func run(_ test: (APIServer, IdentityClient, Mailbox) async throws -> Void) async throws {
    let mailbox = Mailbox()
    var kind = AccountKind.production
    kind.mail = mailbox
    kind.options.authorizedDomains = ["play.example"]
    try await APIServer.run(accounts: kind) { server in try await test(server, IdentityClient(server: server), mailbox) }
  }

  @Test("the button behind a mailed link does what it says: for a new address, a changed one, and one that is taken back")
  func buttons() async throws {
    try await run { server, client, mailbox in
      let browser = Browser(server: server)
      let token = JSON.string(try await client.player("ann@x.io").text("idToken"))
      _ = try await client.call("accounts:sendOobCode", ["requestType": "VERIFY_EMAIL", "idToken": token])
      let verify = try mailbox.last().link
      let page = try await browser.open(verify)
      #expect(page.status == 200 && page.body.contains("<html lang=\"de\">") && page.body.contains("Adresse bestätigen"))
      #expect(try await client.lookup(token.string ?? "")["users"]?.array?.first?["emailVerified"] == false)
      let done = try await browser.press(verify)
      #expect(done.status == 200 && done.body.contains("Die Adresse ann@x.io ist bestätigt."), "\(done.body)")
      #expect(try await client.lookup(token.string ?? "")["users"]?.array?.first?["emailVerified"] == true)
      let again = try await browser.press(verify)
      #expect(again.status == 400 && again.body.contains("Dieser Link gilt nicht mehr"))

      let change: JSON = ["requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": token, "newEmail": "anna@x.io"]
      #expect(try await client.call("accounts:sendOobCode", change).status == 200)
      let changed = try await browser.press(try mailbox.last().link)
      #expect(changed.status == 200 && changed.body.contains("anna@x.io"), "\(changed.body)")
      #expect(try await client.signIn("anna@x.io").status == 200)
    }
  }

  @Test("a change of address is taken back by the button in the mail to the former one")
  func recovery() async throws {
    try await run { server, client, mailbox in
      let token = JSON.string(try await client.player("bob@x.io").text("idToken"))
      #expect(try await client.call("accounts:update", ["idToken": token, "email": "thief@x.io"]).status == 200)
      let letter = try mailbox.last()
      #expect(letter.to == "bob@x.io" && letter.link.contains("mode=recoverEmail"))
      let browser = Browser(server: server)
      #expect(try await browser.open(letter.link).body.contains("Änderung der Adresse rückgängig machen"))
      #expect(try await browser.press(letter.link).body.contains("Dein Konto hat wieder die Adresse bob@x.io."))
      #expect(try await client.signIn("bob@x.io").status == 200)
    }
  }

  @Test("a password that is too weak is asked for again, on the same page, and the link stays good")
  func password() async throws {
    try await run { server, client, mailbox in
      _ = try await client.player("carl@x.io")
      let body: JSON = ["requestType": "PASSWORD_RESET", "email": "carl@x.io", "continueUrl": "https://play.example/?a=1&b=2"]
      #expect(try await client.call("accounts:sendOobCode", body).status == 200)
      let link = try mailbox.last().link
      let browser = Browser(server: server, languages: "xx")
      #expect(try await browser.open(link).body.contains("name=\"newPassword\""))
      #expect(try await browser.press(link, "newPassword=").body.contains("name=\"newPassword\""))
      let weak = try await browser.press(link, "newPassword=12345")
      #expect(weak.status == 400 && weak.body.contains("at least 6 characters") && weak.body.contains("name=\"newPassword\""))
      let done = try await browser.press(link, "newPassword=fresh+1")
      #expect(done.status == 200 && done.body.contains("<a href=\"https://play.example/?a=1&amp;b=2\">Continue</a>"))
      #expect(try await client.signIn("carl@x.io", "fresh 1").status == 200)
    }
  }

  @Test("in production nobody confirms an address by looking at the link, whatever they say they accept")
  func followers() async throws {
    try await run { server, client, mailbox in
      let token = try await client.player("ann@x.io").text("idToken")
      _ = try await client.call("accounts:sendOobCode", ["requestType": "VERIFY_EMAIL", "idToken": .string(token)])
      let link = String(try mailbox.last().link.dropFirst("https://rewards.example".count))
      for accepted in ["*/*", "application/json", ""] {
        let seen = try await server.send("GET", link, headers: accepted.isEmpty ? [:] : ["Accept": accepted])
        #expect(seen.status == 200 && seen.body.contains("<form method=\"post\">"), "\(seen.body)")
      }
      #expect(try await client.lookup(token)["users"]?.array?.first?["emailVerified"] == false)
      let posted = try await server.send("POST", link, headers: ["Accept": "application/json"])
      #expect(posted.status == 200)
      #expect(try await client.lookup(token)["users"]?.array?.first?["emailVerified"] == true)
    }
  }

  @Test("a link to sign in leads on to the application, with the code")
  func signIn() async throws {
    try await run { server, client, mailbox in
      let body: JSON = ["requestType": "EMAIL_SIGNIN", "email": "dora@x.io", "continueUrl": "https://play.example/in"]
      #expect(try await client.call("accounts:sendOobCode", body).status == 200)
      let answer = try await Browser(server: server).open(try mailbox.last().link)
      #expect(answer.status == 303 && answer["location"]?.hasPrefix("https://play.example/in?mode=signIn&") == true)
      let bare: JSON = ["requestType": "EMAIL_SIGNIN", "email": "dora@x.io"]
      #expect(try await client.call("accounts:sendOobCode", bare).status == 200)
      let lost = try await Browser(server: server).open(try mailbox.last().link)
      #expect(lost.status == 400 && lost["content-type"]?.hasPrefix("text/html") == true)
    }
  }

  @Test(
    "mails and pages are in the language that was asked for by the SDK, or else in the browser's",
    arguments: [
      (["X-Firebase-Locale": "fr"], "fr", "Confirmer votre adresse"),
      (["Accept-Language": "ja, en;q=0.5"], "ja", "メールアドレスを確認する"),
      (["X-Firebase-Locale": "es_MX", "Accept-Language": "fr"], "es_MX", "Confirmar tu dirección"),
      (["X-Firebase-Locale": "../../etc", "Accept-Language": "en;q=0, es;q=0.1, de;q=0.7"], "de", "Adresse bestätigen"),
    ])
  func languages(_ headers: [String: String], _ locale: String, _ title: String) async throws {
    try await run { server, client, mailbox in
      let token = JSON.string(try await client.player("ann@x.io").text("idToken"))
      let body: JSON = ["requestType": "VERIFY_EMAIL", "idToken": token]
      #expect(try await client.call("accounts:sendOobCode", body, headers: headers).status == 200)
      let letter = try mailbox.last()
      #expect(letter.locales.first == locale && letter.link.contains("&lang=\(locale)"))
      // Whatever the browser speaks: the mail was in this language.
      let page = try await Browser(server: server, languages: "it").open(letter.link)
      #expect(page.body.contains(title), "\(page.body)")
    }
  }

  @Test("every page has words for everything, in every language")
  func words() {
    for words in ActionWords.all {
      #expect(Set(words.modes.keys) == Set(ActionMode.allCases))
      for mode in ActionMode.allCases where mode != .signIn {
        #expect(words.done(mode, email: "ann@x.io").contains("ann@x.io"), "\(words.language) \(mode)")
        #expect(!words.title(mode).isEmpty)
      }
      #expect(words.weakPassword.contains("%"))
    }
    #expect(Set(ActionWords.all.map(\.language)) == ["en", "de", "fr", "es", "ja"])
  }

  @Test("programs are answered as emulators answer, without a page")
  func programs() async throws {
    try await APIServer.run(accounts: .development) { server in
      let client = IdentityClient(server: server)
      let token = JSON.string(try await client.player("ann@x.io").text("idToken"))
      _ = try await client.call("accounts:sendOobCode", ["requestType": "VERIFY_EMAIL", "idToken": token])
      let codes = try await client.send("GET", "/emulator/v1/projects/game/oobCodes")["oobCodes"]?.array ?? []
      let link = codes.last?["oobLink"]?.string ?? ""
      #expect(link.contains("/emulator/action?mode=verifyEmail&") && link.contains("&lang=en"))
      let path = String(link[(link.firstRange(of: "/emulator")?.lowerBound ?? link.startIndex)...])
      let answer = try await client.send("GET", path)
      #expect(answer.status == 200 && answer["authEmulator"]?["email"] == "ann@x.io")
    }
  }
}
