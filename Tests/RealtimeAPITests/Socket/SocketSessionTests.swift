import Testing

@testable import APISupport

/// The realtime protocol, message by message (firebase-js-sdk, `PersistentConnection.ts`). The clients' frames are those of
/// the JavaScript client 12.18, unless the name says another.
struct SocketSessionTests {
  static let writing: [Transcript] = [
    Transcript(
      "what a JavaScript client says first",
      #"a> {"r":1,"a":"s","b":{"c":{"sdk.node.12-18-0":1}}}"#, #"a< {"r":1,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":2,"a":"q","b":{"p":"/a","h":""}}"#, #"a< {"r":2,"b":{"s":"ok","d":{}}}"#),
    Transcript(
      "46: a writer's own listen is told before the write is acknowledged",
      #"a> {"r":1,"a":"q","b":{"p":"/x","h":""}}"#, #"a< {"r":1,"b":{"s":"ok","d":{}}}"#,
      #"a> {"r":2,"a":"p","b":{"p":"/x","d":{"k":1}}}"#, #"a< {"a":"d","b":{"p":"x","d":{"k":1}}}"#,
      #"a< {"r":2,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":3,"a":"p","b":{"p":"/x/k","d":2}}"#, #"a< {"a":"d","b":{"p":"x/k","d":2}}"#,
      #"a< {"r":3,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":4,"a":"p","b":{"p":"/x/k","d":2}}"#, #"a< {"r":4,"b":{"s":"ok","d":""}}"#),
    Transcript(
      "47: server values come back filled",
      #"a> {"r":1,"a":"q","b":{"p":"/t","h":""}}"#, #"a< {"r":1,"b":{"s":"ok","d":{}}}"#,
      #"a> {"r":2,"a":"p","b":{"p":"/t","d":{".sv":"timestamp"}}}"#, #"a< {"a":"d","b":{"p":"t","d":1700000000000}}"#,
      #"a< {"r":2,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":3,"a":"p","b":{"p":"/t","d":{".sv":{"increment":5}}}}"#,
      #"a< {"a":"d","b":{"p":"t","d":1700000000005}}"#, #"a< {"r":3,"b":{"s":"ok","d":""}}"#),
    Transcript(
      "54: a multi-path update is one message to each listen",
      #"a> {"r":1,"a":"q","b":{"p":"/m","h":""}}"#, #"a< {"r":1,"b":{"s":"ok","d":{}}}"#,
      #"b> {"r":1,"a":"m","b":{"p":"/","d":{"m/a/x":1,"m/b":2,"n":3}}}"#, #"b< {"r":1,"b":{"s":"ok","d":""}}"#,
      #"a< {"a":"m","b":{"p":"m","d":{"a/x":1,"b":2}}}"#,
      #"b> {"r":2,"a":"m","b":{"p":"/m","d":{"a/x":4,"b":null}}}"#, #"b< {"r":2,"b":{"s":"ok","d":""}}"#,
      #"a< {"a":"m","b":{"p":"m","d":{"a/x":4,"b":null}}}"#),
    Transcript(
      "65: a priority is written beside the value, and a set clears it",
      #"a> {"r":1,"a":"p","b":{"p":"/n","d":{".value":1,".priority":3}}}"#, #"a< {"r":1,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":2,"a":"g","b":{"p":"/n","q":{}}}"#, #"a< {"r":2,"b":{"s":"ok","d":{".value":1,".priority":3}}}"#,
      #"a> {"r":3,"a":"p","b":{"p":"/n/.priority","d":"z"}}"#, #"a< {"r":3,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":4,"a":"g","b":{"p":"n","q":{}}}"#, #"a< {"r":4,"b":{"s":"ok","d":{".value":1,".priority":"z"}}}"#,
      #"a> {"r":5,"a":"p","b":{"p":"/n","d":2}}"#, #"a< {"r":5,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":6,"a":"g","b":{"p":"/n","q":{}}}"#, #"a< {"r":6,"b":{"s":"ok","d":2}}"#),
    Transcript(
      "Android counts from 0, leaves the slash out, and gets integers as integers",
      #"a> {"r":0,"a":"p","b":{"p":"rooms/1","d":9007199254740993}}"#, #"a< {"r":0,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":1,"a":"q","b":{"p":"rooms/1","h":""}}"#, #"a< {"a":"d","b":{"p":"rooms/1","d":9007199254740993}}"#,
      #"a< {"r":1,"b":{"s":"ok","d":{}}}"#),
    Transcript(
      "half a surrogate pair becomes U+FFFD, as it must somewhere",
      #"a> {"r":1,"a":"p","b":{"p":"/u","d":"a\ud83d"}}"#, #"a< {"r":1,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":2,"a":"g","b":{"p":"/u","q":{}}}"#, "a< {\"r\":2,\"b\":{\"s\":\"ok\",\"d\":\"a\u{FFFD}\"}}"),
  ]

  @Test("Writes", arguments: writing)
  func write(_ transcript: Transcript) async throws { try await transcript.play() }

  static let reading: [Transcript] = [
    Transcript(
      "45: an empty place is just ok, data come before it",
      #"a> {"r":1,"a":"q","b":{"p":"/e","h":""}}"#, #"a< {"r":1,"b":{"s":"ok","d":{}}}"#, "PUT /f.json 1",
      #"a> {"r":2,"a":"q","b":{"p":"/f","h":""}}"#, #"a< {"a":"d","b":{"p":"f","d":1}}"#,
      #"a< {"r":2,"b":{"s":"ok","d":{}}}"#),
    Transcript(
      "59: who has the data already gets none",
      #"PUT /s.json {"a":1,"b":2}"#,
      #"a> {"r":1,"a":"q","b":{"p":"/s","h":"AUZnXhNqrfbznYVxcCvNpzpjvTU="}}"#, #"a< {"r":1,"b":{"s":"ok","d":{}}}"#,
      #"a> {"r":2,"a":"n","b":{"p":"/s"}}"#, #"a< {"r":2,"b":{"s":"ok","d":""}}"#, "PUT /s/b.json 3",
      #"a> {"r":3,"a":"q","b":{"p":"/s","h":"AUZnXhNqrfbznYVxcCvNpzpjvTU="}}"#,
      #"a< {"a":"d","b":{"p":"s","d":{"a":1,"b":3}}}"#, #"a< {"r":3,"b":{"s":"ok","d":{}}}"#),
    Transcript(
      "50, 51: a filtered listen is tagged, keeps its window, and is warned without an index",
      #"PUT /q.json {"a":{"h":1},"b":{"h":2},"c":{"h":3}}"#,
      #"a> {"r":1,"a":"q","b":{"p":"/q","q":{"l":2,"vf":"r","i":"h"},"t":7,"h":""}}"#,
      #"a< {"a":"d","b":{"p":"q","d":{"b":{"h":2},"c":{"h":3}},"t":7}}"#,
      #"a< {"r":1,"b":{"s":"ok","d":{"w":["no_index"]}}}"#, #"PUT /q/d.json {"h":9}"#,
      #"a< {"a":"m","b":{"p":"q","d":{"d":{"h":9},"b":null},"t":7}}"#, #"PUT /q/a/h.json 1.5"#, #"DELETE /q/d.json"#,
      #"a< {"a":"m","b":{"p":"q","d":{"d":null,"b":{"h":2}},"t":7}}"#,
      #"a> {"r":2,"a":"n","b":{"p":"/q","q":{"l":2,"vf":"r","i":"h"},"t":7}}"#, #"a< {"r":2,"b":{"s":"ok","d":""}}"#,
      "DELETE /q.json", #"a> {"r":3,"a":"g","b":{"p":"/q","q":{}}}"#, #"a< {"r":3,"b":{"s":"ok","d":null}}"#),
    Transcript(
      "52: a read once, whole and filtered, refused without an index",
      #"PUT /g.json {"a":1,"b":2,"c":3}"#, #"a> {"r":1,"a":"g","b":{"p":"/g","q":{}}}"#,
      #"a< {"r":1,"b":{"s":"ok","d":{"a":1,"b":2,"c":3}}}"#,
      #"a> {"r":2,"a":"g","b":{"p":"/g","q":{"sp":"b","sin":true,"ep":"b","ein":true,"i":".key"}}}"#,
      #"a< {"r":2,"b":{"s":"ok","d":{"b":2}}}"#, #"a> {"r":3,"a":"g","b":{"p":"/g","q":{"i":"x/y"}}}"#,
      #"a< {"r":3,"b":{"s":"failure","d":"Index not defined, add \".indexOn\": \"x/y\", for path \"/g\", to the rules. There are none yet: write {\"rules\":{\".read\":true,\".write\":true,\"g\":{\".indexOn\":\"x/y\"}}} into a file rules.json, and load it with \"doubloon rules put rules.json\", or start with \"doubloon dev --rules rules.json\"."}}"#
    ),
    Transcript(
      "53: listens that lie in each other are each told",
      #"PUT /o.json {"c":{"x":1}}"#, #"a> {"r":1,"a":"q","b":{"p":"/o/c","h":""}}"#,
      #"a< {"a":"d","b":{"p":"o/c","d":{"x":1}}}"#, #"a< {"r":1,"b":{"s":"ok","d":{}}}"#,
      #"a> {"r":2,"a":"q","b":{"p":"/o","h":""}}"#, #"a< {"a":"d","b":{"p":"o","d":{"c":{"x":1}}}}"#,
      #"a< {"r":2,"b":{"s":"ok","d":{}}}"#, #"a> {"r":3,"a":"n","b":{"p":"/o/c"}}"#, #"a< {"r":3,"b":{"s":"ok","d":""}}"#,
      "PUT /o/c/x.json 2", #"a< {"a":"d","b":{"p":"o/c/x","d":2}}"#),
    Transcript(
      "66: a listen that is sent twice replaces itself",
      #"PUT /d.json 1"#, #"a> {"r":1,"a":"q","b":{"p":"/d","h":""}}"#, #"a< {"a":"d","b":{"p":"d","d":1}}"#,
      #"a< {"r":1,"b":{"s":"ok","d":{}}}"#, #"a> {"r":2,"a":"q","b":{"p":"d","h":""}}"#, #"a< {"a":"d","b":{"p":"d","d":1}}"#,
      #"a< {"r":2,"b":{"s":"ok","d":{}}}"#, "PUT /d.json 2", #"a< {"a":"d","b":{"p":"d","d":2}}"#,
      #"a> {"r":3,"a":"n","b":{"p":"/d"}}"#, #"a< {"r":3,"b":{"s":"ok","d":""}}"#, "PUT /d.json 3",
      #"a> {"r":4,"a":"s","b":{}}"#, #"a< {"r":4,"b":{"s":"ok","d":""}}"#),
    Transcript(
      "a read sees the writes that were sent before it",
      #"a> {"r":1,"a":"p","b":{"p":"/w","d":1}}"#, #"a> {"r":2,"a":"p","b":{"p":"/w","d":2}}"#,
      #"a> {"r":3,"a":"g","b":{"p":"/w","q":{}}}"#, #"a> {"r":4,"a":"p","b":{"p":"/w","d":3}}"#,
      #"a< {"r":1,"b":{"s":"ok","d":""}}"#, #"a< {"r":2,"b":{"s":"ok","d":""}}"#, #"a< {"r":3,"b":{"s":"ok","d":2}}"#,
      #"a< {"r":4,"b":{"s":"ok","d":""}}"#),
  ]

  @Test("Reads and listens", arguments: reading)
  func read(_ transcript: Transcript) async throws { try await transcript.play() }

  static let transactions: [Transcript] = [
    Transcript(
      "55: a transaction on an unknown value has the value before it is told to run again",
      "PUT /t.json 41", #"a> {"r":1,"a":"q","b":{"p":"/t","h":""}}"#, #"a> {"r":2,"a":"p","b":{"p":"/t","d":1,"h":""}}"#,
      #"a< {"a":"d","b":{"p":"t","d":41}}"#, #"a< {"r":1,"b":{"s":"ok","d":{}}}"#,
      #"a< {"r":2,"b":{"s":"datastale","d":"Transaction hash does not match"}}"#, "PUT /t.json 1",
      #"a< {"a":"d","b":{"p":"t","d":1}}"#,
      #"a> {"r":3,"a":"p","b":{"p":"/t","d":2,"h":"YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="}}"#, #"a< {"a":"d","b":{"p":"t","d":2}}"#,
      #"a< {"r":3,"b":{"s":"ok","d":""}}"#),
    Transcript(
      "56: a transaction over 2^53-1 with JavaScript's own hash of it",
      "PUT /x.json 9007199254740991",
      #"a> {"r":1,"a":"p","b":{"p":"/x","d":0,"h":"m4qsp/5BbIWTdjthNlnOX+WCTB0="}}"#, #"a< {"r":1,"b":{"s":"ok","d":""}}"#),
    Transcript(
      "57: a transaction over children with priorities, in JavaScript's order and in that of iOS",
      #"PUT /p.json {"x":{".value":1,".priority":2},"y":{".value":2,".priority":1}}"#,
      #"a> {"r":1,"a":"p","b":{"p":"/p/z","d":null}}"#, #"a< {"r":1,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":2,"a":"p","b":{"p":"/p","d":{"x":{".value":1,".priority":2},"y":{".value":2,".priority":1}},"h":"Cill6vie+aQdsFpUZUQLmEyo2yI="}}"#,
      #"a< {"r":2,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":3,"a":"p","b":{"p":"/p","d":1,"h":"HG/bEa1UOqTfF/RbPuFsjPZNkmE="}}"#, #"a< {"r":3,"b":{"s":"ok","d":""}}"#),
    Transcript(
      "an update on a condition", "PUT /c.json 1",
      #"a> {"r":1,"a":"m","b":{"p":"/c","d":{"k":1},"h":""}}"#,
      #"a< {"r":1,"b":{"s":"datastale","d":"Transaction hash does not match"}}"#,
      #"a> {"r":2,"a":"m","b":{"p":"/c","d":{"k":1},"h":"YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="}}"#,
      #"a< {"r":2,"b":{"s":"ok","d":""}}"#),
  ]

  @Test("Transactions", arguments: transactions)
  func transact(_ transcript: Transcript) async throws { try await transcript.play() }

  static let production = AccessPolicy(mode: .production, adminTokens: [AdminToken(name: "root", secret: "s3cret")])

  static let credentials: [Transcript] = [
    Transcript(
      "63, 62: what one may do follows the credentials; listens that are no longer allowed end", access: production,
      #"a> {"r":1,"a":"q","b":{"p":"/a","h":""}}"#, #"a< {"r":1,"b":{"s":"permission_denied","d":"Permission denied"}}"#,
      #"a> {"r":2,"a":"gauth","b":{"cred":"s3cret"}}"#, #"a< {"r":2,"b":{"s":"ok","d":{"auth":null}}}"#,
      #"a> {"r":3,"a":"p","b":{"p":"/a","d":1}}"#, #"a< {"r":3,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":4,"a":"q","b":{"p":"/a","h":""}}"#, #"a< {"a":"d","b":{"p":"a","d":1}}"#, #"a< {"r":4,"b":{"s":"ok","d":{}}}"#,
      #"a> {"r":5,"a":"q","b":{"p":"/a","q":{"l":1,"vf":"l"},"t":1,"h":""}}"#, #"a< {"r":5,"b":{"s":"ok","d":{}}}"#,
      #"a> {"r":6,"a":"n","b":{"p":"/a"}}"#, #"a< {"r":6,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":7,"a":"unauth","b":{}}"#, #"a< {"a":"c","b":{"p":"a","q":[{"l":1,"vf":"l"}]}}"#,
      #"a< {"r":7,"b":{"s":"ok","d":"unauthenticated"}}"#,
      #"a> {"r":8,"a":"p","b":{"p":"/a","d":2}}"#, #"a< {"r":8,"b":{"s":"permission_denied","d":"Permission denied"}}"#,
      #"a> {"r":9,"a":"g","b":{"p":"/a","q":{}}}"#, #"a< {"r":9,"b":{"s":"permission_denied","d":"Permission denied"}}"#,
      #"a> {"r":10,"a":"o","b":{"p":"/a","d":2}}"#, #"a< {"r":10,"b":{"s":"permission_denied","d":"Permission denied"}}"#,
      #"a> {"r":11,"a":"auth","b":{"cred":"a.b.c"}}"#,
      #"a< {"r":11,"b":{"s":"invalid_token","d":"Could not parse auth token."}}"#),
    Transcript(
      "an administrator may act as somebody else, or as nobody", access: production,
      #"a> {"r":1,"a":"gauth","b":{"cred":"s3cret","noauth":true}}"#, #"a< {"r":1,"b":{"s":"ok","d":{"auth":null}}}"#,
      #"a> {"r":2,"a":"g","b":{"p":"/a","q":{}}}"#, #"a< {"r":2,"b":{"s":"permission_denied","d":"Permission denied"}}"#,
      #"a> {"r":3,"a":"gauth","b":{"cred":"s3cret","authvar":{"uid":"bob"}}}"#,
      #"a< {"r":3,"b":{"s":"ok","d":{"auth":{"uid":"bob"}}}}"#),
    Transcript(
      "66: in development unsigned tokens are believed; App Check and what is unknown is answered",
      #"a> {"r":1,"a":"auth","b":{"cred":"eyJhbGciOiJub25lIn0.eyJzdWIiOiJqaW0iLCJpYXQiOjAsImV4cCI6MzYwMH0."}}"#,
      #"a< {"r":1,"b":{"s":"ok","d":{"auth":{"uid":"jim"}}}}"#, #"a> {"r":2,"a":"appcheck","b":{"token":"t"}}"#,
      #"a< {"r":2,"b":{"s":"ok","d":""}}"#, #"a> {"r":3,"a":"unappeck","b":{}}"#, #"a< {"r":3,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":4,"a":"dance","b":{"x":[1]}}"#, #"a< {"r":4,"b":{"s":"ok","d":""}}"#, #"a> {"r":5,"a":"s"}"#,
      #"a< {"r":5,"b":{"s":"ok","d":""}}"#, #"a> {"r":6,"a":"gauth","b":{"cred":5}}"#,
      #"a< {"r":6,"b":{"s":"invalid_token","d":"The request has no credential: cred must be a string."}}"#),
    Transcript(
      "44: pings of the protocol are answered with data",
      #"a! {"t":"c","d":{"t":"p","d":{}}}"#, #"a< {"t":"c","d":{"t":"o","d":null}}"#, #"a! 0"#,
      #"a! {"t":"c","d":{"t":"whatever","d":{}}}"#, #"a! {"t":"c","d":{"t":"p"}}"#, #"a< {"t":"c","d":{"t":"o","d":null}}"#),
  ]

  @Test("Credentials and control messages", arguments: credentials)
  func authenticate(_ transcript: Transcript) async throws { try await transcript.play() }

  static let refusals: [Transcript] = [
    Transcript(
      "a request that says nonsense is told so, and the next is served",
      #"a> {"r":1,"a":"p","b":{"d":1}}"#,
      #"a< {"r":1,"b":{"s":"failure","d":"The request names no path: p must be a string."}}"#,
      #"a> {"r":2,"a":"p","b":{"p":"/a"}}"#,
      #"a< {"r":2,"b":{"s":"failure","d":"The request has no data: send null to delete."}}"#,
      #"a> {"r":3,"a":"p","b":{"p":"/a","d":1,"h":5}}"#, #"a< {"r":3,"b":{"s":"failure","d":"The hash must be a string."}}"#,
      #"a> {"r":4,"a":"m","b":{"p":"/a","d":5}}"#,
      #"a< {"r":4,"b":{"s":"failure","d":"Invalid data: an update needs a JSON object whose names are paths; use a set to replace the whole location."}}"#,
      #"a> {"r":5,"a":"m","b":{"p":"/a","d":{"b":1,"b/c":2}}}"#,
      #"a< {"r":5,"b":{"s":"failure","d":"Invalid update: /a/b is an ancestor of /a/b/c; an update cannot write both."}}"#,
      #"a> {"r":6,"a":"q","b":{"p":"/a","q":[],"t":1}}"#,
      #"a> {"r":7,"a":"p","b":{"p":"/a/.priority","d":1}}"#, #"a> {"r":8,"a":"p","b":{"p":"/ok","d":1}}"#,
      #"a< {"r":6,"b":{"s":"failure","d":"Invalid query: it must be a JSON object."}}"#,
      #"a< {"r":7,"b":{"s":"failure","d":"A priority needs a node: /a does not exist. Write its value first."}}"#,
      #"a< {"r":8,"b":{"s":"ok","d":""}}"#)
  ]

  @Test("Refused requests", arguments: refusals)
  func refuse(_ transcript: Transcript) async throws { try await transcript.play() }
}
