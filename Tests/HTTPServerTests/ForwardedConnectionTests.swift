import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

/// What one node says to another of the connection that it hands on.
@Suite("Connections that another node hands on")
struct ForwardedConnectionTests {
  private let seal = ConnectionSeal(secret: Array("a secret of all nodes".utf8))
  private let request = "GET / HTTP/1.1\r\n\r\n"

  /// What comes through, whose connection it is taken for, and whether it goes on; the bytes arrive in pieces of this size.
  private func read(_ text: String, pieces: Int = .max, now: Int64 = 1000) throws -> (
    text: String, client: ClientAddress?, goesOn: Bool
  ) {
    var client: ClientAddress?
    let channel = EmbeddedChannel(
      handler: ForwardedReader(seal, now: { now }) {
        client = $0
        return true
      })
    try channel.connect(to: SocketAddress(ipAddress: "10.0.0.2", port: 1)).wait()
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty, channel.isActive {
      _ = try? channel.writeInbound(ByteBuffer(bytes: rest.prefix(pieces)))
      rest = rest.dropFirst(pieces)
    }
    var found = ""
    while var part = try channel.readInbound(as: ByteBuffer.self) { found += part.readString(length: part.readableBytes) ?? "" }
    return (found, client, channel.isActive)
  }

  @Test("The line of a node says whose connection it is, whatever pieces it comes in", arguments: [1, 2, 7, 50, 1000])
  func taken(pieces: Int) throws {
    for address in ["192.0.2.7", "2001:db8::7"] {
      let found = try read(seal.line(for: address, at: 900) + request, pieces: pieces)
      #expect(found.text == request && found.client == ClientAddress(parsing: address) && found.goesOn)
    }
  }

  @Test(
    "A client's own bytes come through as they are",
    arguments: ["GET / HTTP/1.1\r\n\r\n", "HO", "HOPE / HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}"])
  func own(text: String) throws {
    let found = try read(text + "more", pieces: 1)
    #expect(found.text == text + "more" && found.client == nil && found.goesOn)
  }

  @Test("A line that no node has written ends the connection, and nothing of it comes through")
  func forged() throws {
    let line = seal.line(for: "192.0.2.7", at: 900)
    let other = ConnectionSeal(secret: Array("another secret".utf8)).line(for: "192.0.2.7", at: 900)
    let forged = [
      other, line.replacing("192.0.2.7", with: "192.0.2.8"), line.replacing(" 900 ", with: " 901 "), "HOP1 \r\n",
      "HOP1 a b c\r\n",
      "HOP1 " + String(repeating: "x", count: 400),
    ]
    for text in forged {
      let found = try read(text + request)
      #expect(found.text.isEmpty && found.client == nil && !found.goesOn, "\(text)")
    }
    // One of long ago.
    #expect(try !read(line + request, now: 900 + 300_001).goesOn)
  }
}
