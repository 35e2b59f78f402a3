import Mail
import Testing

@Suite struct MailMessageTests {
  @Test("a message without HTML is text alone")
  func plain() {
    #expect(MailMessage(from: "a@x.io", to: "b@x.io", subject: "s", text: "t").html == nil)
  }
}
