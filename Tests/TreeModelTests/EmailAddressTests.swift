import Testing
import TreeModel

@Suite struct EmailAddressTests {
  @Test(
    "one plain address is read, in lower case",
    arguments: [
      // What Firebase takes from players, too.
      ("bob@example.com", "bob@example.com"), ("Bob.B@Example.COM", "bob.b@example.com"), ("a+x@y.z", "a+x@y.z"),
      ("o'brien@example.ie", "o'brien@example.ie"),
      ("user_name-1@sub.example-host.co.uk", "user_name-1@sub.example-host.co.uk"),
      ("1@example.com", "1@example.com"), ("x@xn--bcher-kva.example", "x@xn--bcher-kva.example"),
      ("!#$%&'*+-/=?^_`{|}~@example.com", "!#$%&'*+-/=?^_`{|}~@example.com"),
      ("\(String(repeating: "l", count: 64))@example.com", "\(String(repeating: "l", count: 64))@example.com"),
      ("a@\(String(repeating: "h", count: 63)).com", "a@\(String(repeating: "h", count: 63)).com"),
    ])
  func plain(_ text: String, _ address: String) throws {
    let found = try #require(EmailAddress(text))
    #expect(found.text == address)
    #expect("\(found.local)@\(found.host)" == address)
    #expect(EmailAddress(found.text) == found)
  }

  @Test(
    "what is no plain address is none",
    arguments: [
      "", "bob", "@example.com", "bob@", "bob@localhost", "bob@example.", "bob@.com", "bob@example..com", "a@b@example.com",
      ".bob@example.com", "bob.@example.com", "bo..b@example.com", "bob@-x.com", "bob@x-.com", "bob@127.0.0.1", "bob@x.1",
      "bob@[127.0.0.1]", "\"bob\"@example.com", "bob(x)@example.com", "bob@exa_mple.com",
      // One mailbox in front of which every name would be an account of its own.
      "n0<victim@example.com>", "n1 <victim@example.com>", "<victim@example.com>", "victim@example.com,n1@example.com",
      "victim@example.com;n1@example.com", " victim@example.com", "victim@example.com ", "victim@exam ple.com",
      "victim@example.com\r\nBcc: x@example.com", "victim@example.com\u{0}", "victim\u{200B}@example.com",
      "v\u{FC}@example.com",
      "v@ex\u{E4}mple.com", "victim\u{FF20}example.com", "\(String(repeating: "l", count: 65))@example.com",
      "a@\(String(repeating: "h", count: 64)).com",
      "\(String(repeating: "l", count: 60))@\(String(repeating: "h.", count: 97))com",
    ])
  func refused(_ text: String) {
    #expect(EmailAddress(text) == nil)
  }

  @Test("lower case alone makes two addresses the same account's")
  func accounts() {
    #expect(EmailAddress("A@Y.Z") == EmailAddress("a@y.z"))
    #expect(EmailAddress("a+x@y.z") != EmailAddress("a@y.z"))
    #expect(EmailAddress("a.b@gmail.com") != EmailAddress("ab@gmail.com"))
  }

  @Test(
    "limits count the mailbox, not its spellings",
    arguments: [
      ("bob@example.com", "bob@example.com"), ("BOB+1@example.com", "bob@example.com"),
      ("bob+1+2@example.com", "bob@example.com"),
      ("+bob@example.com", "+bob@example.com"), ("b.ob@example.com", "b.ob@example.com"), ("b.o.b@gmail.com", "bob@gmail.com"),
      ("b.ob+x.y@googlemail.com", "bob@gmail.com"), ("bob@mail.gmail.com", "bob@mail.gmail.com"),
    ])
  func mailboxes(_ text: String, _ mailbox: String) throws {
    let address = try #require(EmailAddress(text))
    #expect(address.deliveryIdentity == mailbox)
  }
}
