import Testing

/// Keys of writes: what a client sends again because it lost the answer.
struct WriteKeyTests {
  static let transcripts: [Transcript] = {
    let key = String(repeating: "0f", count: 16)
    return [
      Transcript(
        "a write under a key that was used is answered as the first, on any connection, and not done again",
        #"a> {"r":1,"a":"p","b":{"p":"/n","d":{".sv":{"increment":1}},"k":"\#(key)-1"}}"#, #"a< {"r":1,"b":{"s":"ok","d":""}}"#,
        #"b> {"r":1,"a":"p","b":{"p":"/n","d":{".sv":{"increment":1}},"k":"\#(key)-1"}}"#, #"b< {"r":1,"b":{"s":"ok","d":""}}"#,
        #"a> {"r":2,"a":"p","b":{"p":"/n","d":{".sv":{"increment":1}},"k":"\#(key)-2"}}"#, #"a< {"r":2,"b":{"s":"ok","d":""}}"#,
        #"a> {"r":3,"a":"m","b":{"p":"/","d":{"m":{".sv":{"increment":1}}},"k":"\#(key)-3"}}"#,
        #"a< {"r":3,"b":{"s":"ok","d":""}}"#,
        #"a> {"r":4,"a":"m","b":{"p":"/","d":{"m":{".sv":{"increment":1}}},"k":"\#(key)-3"}}"#,
        #"a< {"r":4,"b":{"s":"ok","d":""}}"#,
        #"a> {"r":5,"a":"g","b":{"p":"/","q":{}}}"#, #"a< {"r":5,"b":{"s":"ok","d":{"m":1,"n":2}}}"#),
      Transcript(
        "a transaction's set under a key is done once, too; a key that was refused counts as new",
        #"a> {"r":1,"a":"p","b":{"p":"/t","d":1,"h":"wrong","k":"\#(key)-4"}}"#,
        #"a< {"r":1,"b":{"s":"datastale","d":"Transaction hash does not match"}}"#,
        #"a> {"r":2,"a":"p","b":{"p":"/t","d":1,"h":"","k":"\#(key)-5"}}"#, #"a< {"r":2,"b":{"s":"ok","d":""}}"#,
        #"a> {"r":3,"a":"p","b":{"p":"/t","d":1,"h":"","k":"\#(key)-5"}}"#, #"a< {"r":3,"b":{"s":"ok","d":""}}"#),
      Transcript(
        "the same key for another write, and what is no key, are refused",
        #"a> {"r":1,"a":"p","b":{"p":"/n","d":1,"k":"\#(key)-6"}}"#, #"a< {"r":1,"b":{"s":"ok","d":""}}"#,
        #"a> {"r":2,"a":"p","b":{"p":"/n","d":2,"k":"\#(key)-6"}}"#,
        #"a< {"r":2,"b":{"s":"failure","d":"The idempotency key \"socket \#(key)-6\" was used for another request. Give every request a key of its own."}}"#,
        #"a> {"r":3,"a":"p","b":{"p":"/n","d":3,"k":7}}"#,
        #"a< {"r":3,"b":{"s":"failure","d":"The key of a write must be a string of 34 to 64 characters."}}"#,
        #"a> {"r":4,"a":"p","b":{"p":"/n","d":3,"k":"short"}}"#,
        #"a< {"r":4,"b":{"s":"failure","d":"The key of a write must be a string of 34 to 64 characters."}}"#,
        #"a> {"r":5,"a":"g","b":{"p":"/n","q":{}}}"#, #"a< {"r":5,"b":{"s":"ok","d":1}}"#),
    ]
  }()

  @Test("A repeated write is done once", arguments: transcripts)
  func repetitions(transcript: Transcript) async throws {
    try await transcript.play()
  }
}
