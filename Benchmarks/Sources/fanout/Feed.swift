import Measuring

/// How clients of one kind listen, and how one of them publishes.
protocol Feed {
  /// What makes a connection listen: texts to send, each with what its answer must hold.
  func listening(port: Int) -> [(request: [UInt8], answer: String)]
  /// What makes a connection one that publishes.
  func publishing(port: Int) -> [(request: [UInt8], answer: String)]
  /// One publication.
  func publication(_ text: String, number: Int) -> [UInt8]
}

/// Doubloon over the Realtime Database's socket: a write that is durable, told to everybody who listens there.
struct SocketFeed: Feed {
  func listening(port: Int) -> [(request: [UInt8], answer: String)] {
    publishing(port: port) + [(Self.frame(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/fanout/place","h":""}}}"#), #""s":"ok""#)]
  }

  func publishing(port: Int) -> [(request: [UInt8], answer: String)] {
    [
      (
        Array(
          """
          GET /.ws?v=5&ns=demo-default-rtdb HTTP/1.1\r
          Host: 127.0.0.1:\(port)\r
          Upgrade: websocket\r
          Connection: Upgrade\r
          Sec-WebSocket-Version: 13\r
          Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
          \r

          """.utf8), #""t":"h""#
      )
    ]
  }

  func publication(_ text: String, number: Int) -> [UInt8] {
    Self.frame(#"{"t":"d","d":{"r":\#(number + 2),"a":"p","b":{"p":"/fanout/place","d":"\#(text)"}}}"#)
  }

  /// A text frame, masked as a client's must be; with a mask of zeros the text is its own.
  private static func frame(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    let isShort = bytes.count < 126
    let length: [UInt8] =
      isShort ? [0x80 | UInt8(bytes.count)] : [0x80 | 126, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
    return [0x81] + length + [0, 0, 0, 0] + bytes
  }
}

/// Doubloon's event streams; published over the socket.
struct StreamFeed: Feed {
  func listening(port: Int) -> [(request: [UInt8], answer: String)] {
    [
      (
        Array("GET /fanout/place.json HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: text/event-stream\r\n\r\n".utf8),
        "event: put"
      )
    ]
  }

  func publishing(port: Int) -> [(request: [UInt8], answer: String)] { SocketFeed().publishing(port: port) }

  func publication(_ text: String, number: Int) -> [UInt8] { SocketFeed().publication(text, number: number) }
}

/// Redis' publish and subscribe, which keeps nothing.
struct RedisFeed: Feed {
  func listening(port: Int) -> [(request: [UInt8], answer: String)] {
    [(Array("*2\r\n$9\r\nSUBSCRIBE\r\n$6\r\nfanout\r\n".utf8), ":1\r\n")]
  }

  func publishing(port: Int) -> [(request: [UInt8], answer: String)] { [(Array("PING\r\n".utf8), "PONG")] }

  func publication(_ text: String, number: Int) -> [UInt8] {
    Array("*3\r\n$7\r\nPUBLISH\r\n$6\r\nfanout\r\n$\(text.utf8.count)\r\n\(text)\r\n".utf8)
  }
}
