import Invites
import Testing

@Suite struct InviteStateTests {
  @Test("an invitation's life goes from queued to converted")
  func order() {
    #expect(InviteState.allCases.first == .queued)
    #expect(InviteState.allCases.last == .converted)
  }
}
