import Testing

/// Conversations that were recorded from clients as they are shipped, played again message by message.
struct RecordedSessionTests {
  /// Two games with the JavaScript client 12.18 in Node: a listen, a set, an update of many places, a window by a child without
  /// an index, a get of what the window holds, a transaction that meets another value first, an increment, registrations for
  /// the end of the connection and one taken back, priorities, a removal that moves the window, and the end of a connection.
  /// The client was content with every answer, and its listeners saw what they should. Two messages stand later than they were
  /// sent: the transaction's second try came before the answer to the first, and the two may be judged in one batch, whose news
  /// go out before its answers; and the end of a listen, which nothing holds up, came before the answer to that second try.
  static let javaScript = Transcript(
    "49: two games with the JavaScript client",
    #"a> {"r":1,"a":"s","b":{"c":{"sdk.node.12-18-0":1}}}"#,
    #"a> {"r":2,"a":"q","b":{"p":"/users/alice","h":""}}"#,
    #"a< {"r":1,"b":{"s":"ok","d":""}}"#,
    #"a< {"r":2,"b":{"s":"ok","d":{}}}"#,
    #"a> {"r":3,"a":"p","b":{"p":"/users/alice","d":{"level":1,"name":"Alice"}}}"#,
    #"a< {"a":"d","b":{"p":"users/alice","d":{"level":1,"name":"Alice"}}}"#,
    #"a< {"r":3,"b":{"s":"ok","d":""}}"#,
    #"a> {"r":4,"a":"m","b":{"p":"/","d":{"users/alice/level":2,"users/bob/name":"Bob","users/carol":{"name":"Carol","level":7}}}}"#,
    #"a< {"a":"m","b":{"p":"users/alice","d":{"level":2}}}"#,
    #"a< {"r":4,"b":{"s":"ok","d":""}}"#,
    #"a> {"r":5,"a":"p","b":{"p":"/users/bob/level","d":4}}"#,
    #"a< {"r":5,"b":{"s":"ok","d":""}}"#,
    #"b> {"r":1,"a":"s","b":{"c":{"sdk.node.12-18-0":1}}}"#,
    #"b> {"r":2,"a":"q","b":{"p":"/users","q":{"l":2,"vf":"r","i":"level"},"t":1,"h":""}}"#,
    #"b< {"r":1,"b":{"s":"ok","d":""}}"#,
    #"b< {"a":"d","b":{"p":"users","d":{"bob":{"level":4,"name":"Bob"},"carol":{"level":7,"name":"Carol"}},"t":1}}"#,
    #"b< {"r":2,"b":{"s":"ok","d":{"w":["no_index"]}}}"#,
    #"b> {"r":3,"a":"q","b":{"p":"/users/alice/level","h":""}}"#,
    #"b> {"r":4,"a":"p","b":{"p":"/users/alice/level","d":3,"h":""}}"#,
    #"b< {"a":"d","b":{"p":"users/alice/level","d":2}}"#,
    #"b< {"r":3,"b":{"s":"ok","d":{}}}"#,
    #"b< {"r":4,"b":{"s":"datastale","d":"Transaction hash does not match"}}"#,
    #"b> {"r":5,"a":"p","b":{"p":"/users/alice/level","d":5,"h":"WtSt2Xo3L0JtPuArzQHofPrZOuU="}}"#,
    #"b< {"a":"m","b":{"p":"users","d":{"alice":{"level":5,"name":"Alice"},"bob":null},"t":1}}"#,
    #"b< {"a":"d","b":{"p":"users/alice/level","d":5}}"#,
    #"b< {"r":5,"b":{"s":"ok","d":""}}"#,
    #"b> {"r":6,"a":"n","b":{"p":"/users/alice/level"}}"#,
    #"a< {"a":"d","b":{"p":"users/alice/level","d":5}}"#,
    #"b< {"r":6,"b":{"s":"ok","d":""}}"#,
    #"b> {"r":7,"a":"p","b":{"p":"/users/alice/gems","d":{".sv":{"increment":5}}}}"#,
    #"b< {"a":"d","b":{"p":"users/alice/gems","d":5,"t":1}}"#,
    #"b< {"r":7,"b":{"s":"ok","d":""}}"#,
    #"b> {"r":8,"a":"o","b":{"p":"/online/b","d":false}}"#,
    #"b< {"r":8,"b":{"s":"ok","d":""}}"#,
    #"a< {"a":"d","b":{"p":"users/alice/gems","d":5}}"#,
    #"b> {"r":9,"a":"om","b":{"p":"/left","d":{"b/how":"gone"}}}"#,
    #"b< {"r":9,"b":{"s":"ok","d":""}}"#,
    #"b> {"r":10,"a":"p","b":{"p":"/online/b","d":true}}"#,
    #"b< {"r":10,"b":{"s":"ok","d":""}}"#,
    #"b> {"r":11,"a":"oc","b":{"p":"/left","d":null}}"#,
    #"b< {"r":11,"b":{"s":"ok","d":""}}"#,
    #"a> {"r":6,"a":"p","b":{"p":"/list/x","d":{".value":"first",".priority":9}}}"#,
    #"a< {"r":6,"b":{"s":"ok","d":""}}"#,
    #"a> {"r":7,"a":"p","b":{"p":"/list/x/.priority","d":1}}"#,
    #"a< {"r":7,"b":{"s":"ok","d":""}}"#,
    #"a> {"r":8,"a":"q","b":{"p":"/list","q":{"sp":0,"sin":true,"ep":5,"ein":true},"t":2,"h":""}}"#,
    #"a< {"a":"d","b":{"p":"list","d":{"x":{".value":"first",".priority":1}},"t":2}}"#,
    #"a< {"r":8,"b":{"s":"ok","d":{}}}"#,
    #"a> {"r":9,"a":"n","b":{"p":"/users/alice"}}"#,
    #"a< {"r":9,"b":{"s":"ok","d":""}}"#,
    #"a> {"r":10,"a":"p","b":{"p":"/users/carol","d":null}}"#,
    #"b< {"a":"m","b":{"p":"users","d":{"carol":null,"bob":{"level":4,"name":"Bob"}},"t":1}}"#,
    #"a< {"r":10,"b":{"s":"ok","d":""}}"#,
    #"a> {"r":11,"a":"q","b":{"p":"/online","h":""}}"#,
    #"a< {"a":"d","b":{"p":"online","d":{"b":true}}}"#,
    #"a< {"r":11,"b":{"s":"ok","d":{}}}"#,
    #"b."#,
    #"a< {"a":"m","b":{"p":"online","d":{"b":false}}}"#,
    #"a> {"r":12,"a":"p","b":{"p":"/done","d":true}}"#,
    #"a< {"r":12,"b":{"s":"ok","d":""}}"#)

  @Test("What clients said is answered as they were content with", arguments: [javaScript])
  func recorded(_ transcript: Transcript) async throws { try await transcript.play() }
}
