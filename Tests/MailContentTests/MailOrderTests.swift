import Testing
import TreeModel

@testable import MailContent

@Suite struct MailOrderTests {
  @Test("an order survives its payload, whole")
  func roundTrip() throws {
    let order = MailOrder(
      kind: .invite, to: "Bob <bob@example.com>", subject: "Ünique \"x\"", text: "a\nb", html: "<p>", from: "a@b.c",
      fromName: "Ann", replyTo: "r@b.c", unsubscribe: "https://x/u")
    #expect(try MailOrder(payload: order.payload) == order)
    let plain = MailOrder(kind: .signIn, to: "b@c.d", subject: "s", text: "t")
    #expect(plain.payload == #"{"kind":"signIn","to":"b@c.d","subject":"s","text":"t"}"#)
    #expect(try MailOrder(payload: plain.payload) == plain)
  }

  @Test("what is kept of a delivered order holds no text and no code")
  func remainder() {
    let order = MailOrder(
      kind: .resetPassword, to: "b@c.d", subject: "s", text: "code", html: "code", unsubscribe: "https://code")
    #expect(order.remainder == #"{"kind":"resetPassword","to":"b@c.d","subject":"s"}"#)
  }

  static let faults: [(String, String)] = [
    ("", "The payload is no JSON"), ("[]", "must be a JSON object"), ("{}", "\"kind\" must be a text that is not empty"),
    (#"{"kind":"spam","to":"a","subject":"b","text":"c"}"#, "\"kind\" must be one of verifyEmail, "),
    (#"{"kind":"invite","to":"","subject":"b","text":"c"}"#, "\"to\" must be a text that is not empty"),
    (#"{"kind":"invite","to":"a","subject":"b"}"#, "\"text\" must be"),
    (#"{"kind":"invite","to":"a","subject":"b","text":"c","html":1}"#, "\"html\" must be a text."),
  ]

  @Test("what can never be sent is refused with a sentence", arguments: faults)
  func fault(_ payload: String, _ message: String) {
    #expect { _ = try MailOrder(payload: payload) } throws: { "\($0)".contains(message) }
  }

  @Test("a payload has a bound")
  func bound() {
    let order = MailOrder(kind: .invite, to: "a@b.c", subject: "s", text: String(repeating: "x", count: MailOrder.bytesMax))
    #expect(throws: MailOrderError.self) { _ = try MailOrder(payload: order.payload) }
  }
}
