import Testing

@testable import HTTPServer

/// A proxy that nobody declared is noticed by the share of its address.
struct ProxySuspicionTests {
  private func suspect(_ addresses: [String], rounds: Int = 2000) throws -> String? {
    let suspicion = ProxySuspicion()
    let clients = try addresses.map { try #require(ClientAddress(parsing: $0)) }
    for round in 0..<rounds { suspicion.note(clients[round % clients.count]) }
    return suspicion.suspect?.description
  }

  @Test("One private address with most requests is named; a public one, a smaller share and a few requests are not")
  func shares() throws {
    #expect(try suspect(["10.0.0.5"]) == "10.0.0.5")
    #expect(try suspect(["172.31.0.1", "172.31.0.1", "172.31.0.1", "203.0.113.9"]) == "172.31.0.1")
    #expect(try suspect(["203.0.113.9"]) == nil)
    #expect(try suspect(["10.0.0.5", "10.0.0.6", "10.0.0.7"]) == nil)
    #expect(try suspect(["10.0.0.5"], rounds: 900) == nil)
    #expect(try suspect(["127.0.0.1"]) == nil)
  }

  @Test(
    "Private networks are told from public ones at their edges",
    arguments: [
      ("10.255.255.255", true), ("11.0.0.0", false), ("172.16.0.0", true), ("172.32.0.0", false), ("192.168.0.1", true),
      ("192.169.0.1", false), ("100.64.0.1", true), ("100.128.0.0", false), ("fd00::1", true), ("fe00::1", false),
      ("2001:db8::1", false),
    ])
  func networks(address: String, isPrivate: Bool) throws {
    #expect(try #require(ClientAddress(parsing: address)).isPrivate == isPrivate)
  }
}
