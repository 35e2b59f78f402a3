import Testing

/// Rules on the realtime protocol (Firebase's security rules reference).
struct SocketRulesTests {
  private static let rules =
    #"PUT /.settings/rules.json {"rules":{"own":{"$uid":{".read":"auth.uid==$uid",".write":"auth.uid==$uid"}},"#
    + #""open":{".read":"!root.child('closed').exists()",".write":true},"#
    + #""few":{".indexOn":"a",".read":"query.limitToFirst<=2"}}}"#
  private static let authenticate = [
    #"a> {"r":1,"a":"auth","b":{"cred":"\#(RulesTests.token("bob"))"}}"#,
    #"a< {"r":1,"b":{"s":"ok","d":{"auth":{"uid":"bob"}}}}"#,
  ]
  private static func denied(_ number: Int) -> String {
    #"a< {"r":\#(number),"b":{"s":"permission_denied","d":"Permission denied"}}"#
  }
  private static func ok(_ number: Int) -> String { #"a< {"r":\#(number),"b":{"s":"ok","d":""}}"# }
  /// What a developer is told in development.
  private static func debug(_ text: String) -> String { #"a< {"a":"sd","b":{"msg":"\#(text)"}}"# }

  static let transcripts: [Transcript] = [
    Transcript(
      "52: get: a value, denied, with a filter", rules: rules,
      authenticate + [
        #"PUT /own/bob {"x":1}"#, #"PUT /few {"k1":{"a":2},"k2":{"a":1},"k3":{"a":3}}"#,
        #"a> {"r":2,"a":"g","b":{"p":"/own/bob","q":{}}}"#, #"a< {"r":2,"b":{"s":"ok","d":{"x":1}}}"#,
        #"a> {"r":3,"a":"g","b":{"p":"/own/eve","q":{}}}"#,
        debug(
          #"Denied: read /own/eve\n  1:34 .read of /own/$uid (/own/eve) is false: auth.uid==$uid\n      auth.uid = \"bob\"\n      $uid = \"eve\""#
        ),
        denied(3), #"a> {"r":4,"a":"g","b":{"p":"/few","q":{"i":"a","l":2,"vf":"l"}}}"#,
        #"a< {"r":4,"b":{"s":"ok","d":{"k1":{"a":2},"k2":{"a":1}}}}"#,
      ]),
    Transcript(
      "58: a transaction that rules deny is denied, whether its hash is right or not", rules: rules,
      authenticate + [
        #"PUT /own/eve 1"#, #"a> {"r":2,"a":"p","b":{"p":"/own/eve","d":2,"h":"wrong"}}"#,
        debug(
          #"Denied: write /own/eve\n  1:60 .write of /own/$uid (/own/eve) is false: auth.uid==$uid\n      auth.uid = \"bob\"\n      $uid = \"eve\""#
        ),
        denied(2), #"a> {"r":3,"a":"p","b":{"p":"/own/bob","d":2,"h":"wrong"}}"#,
        #"a< {"r":3,"b":{"s":"datastale","d":"Transaction hash does not match"}}"#,
        #"a> {"r":4,"a":"p","b":{"p":"/own/bob","d":2,"h":""}}"#, ok(4),
      ]),
    Transcript(
      "62: what rules deny at the end is refused when it is registered, and judged again when it is carried out", rules: rules,
      authenticate + [
        #"b> {"r":1,"a":"gauth","b":{"cred":"owner"}}"#, #"b< {"r":1,"b":{"s":"ok","d":{"auth":null}}}"#,
        #"b> {"r":2,"a":"q","b":{"p":"/own","h":""}}"#, #"b< {"r":2,"b":{"s":"ok","d":{}}}"#,
        #"a> {"r":2,"a":"o","b":{"p":"/own/eve","d":1}}"#,
        debug(
          #"Denied: write /own/eve\n  1:60 .write of /own/$uid (/own/eve) is false: auth.uid==$uid\n      auth.uid = \"bob\"\n      $uid = \"eve\""#
        ),
        denied(2), #"a> {"r":3,"a":"o","b":{"p":"/own/bob","d":{"gone":{".sv":"timestamp"}}}}"#, ok(3),
        #"a> {"r":4,"a":"o","b":{"p":"/open","d":1}}"#, ok(4),
        #"PUT /.settings/rules.json {"rules":{"own":{"$uid":{".write":"auth.uid==$uid"}}}}"#, "a.",
        #"b< {"a":"m","b":{"p":"own","d":{"bob":{"gone":1700000000000}}}}"#,
      ]),
    Transcript(
      "63: another token, and none, change what rules say on a living connection", rules: rules,
      authenticate + [
        #"a> {"r":2,"a":"q","b":{"p":"/own/bob","h":""}}"#, #"a< {"r":2,"b":{"s":"ok","d":{}}}"#,
        #"a> {"r":3,"a":"p","b":{"p":"/own/bob","d":1}}"#, #"a< {"a":"d","b":{"p":"own/bob","d":1}}"#, ok(3),
        #"a> {"r":4,"a":"auth","b":{"cred":"\#(RulesTests.token("eve"))"}}"#, #"a< {"a":"c","b":{"p":"own/bob"}}"#,
        #"a< {"r":4,"b":{"s":"ok","d":{"auth":{"uid":"eve"}}}}"#, #"a> {"r":5,"a":"p","b":{"p":"/own/eve","d":2}}"#, ok(5),
        #"a> {"r":6,"a":"unauth","b":{}}"#, #"a< {"r":6,"b":{"s":"ok","d":"unauthenticated"}}"#,
        #"a> {"r":7,"a":"p","b":{"p":"/own/eve","d":3}}"#,
        debug(
          #"Denied: write /own/eve\n  1:60 .write of /own/$uid (/own/eve) is false: auth.uid==$uid\n      auth.uid = null\n      $uid = \"eve\""#
        ),
        denied(7),
      ]),
    Transcript(
      "64: new rules revoke a listen, a filtered one with its query; so does a commit that its rule looks at", rules: rules,
      [
        #"a> {"r":1,"a":"q","b":{"p":"/open","h":""}}"#, #"a< {"r":1,"b":{"s":"ok","d":{}}}"#,
        #"a> {"r":2,"a":"q","b":{"p":"/few","h":"","t":7,"q":{"i":"a","l":2,"vf":"l"}}}"#, #"a< {"r":2,"b":{"s":"ok","d":{}}}"#,
        #"PUT /closed true"#, #"a< {"a":"c","b":{"p":"open"}}"#,
        #"PUT /.settings/rules.json {"rules":{}}"#,
        #"a< {"a":"c","b":{"p":"few","q":[{"i":"a","l":2,"vf":"l"}]}}"#,
      ]),
    Transcript(
      "75: an administrator in another's name, and in nobody's", rules: rules,
      [
        #"a> {"r":1,"a":"gauth","b":{"cred":"owner","authvar":{"uid":"eve"}}}"#,
        #"a< {"r":1,"b":{"s":"ok","d":{"auth":{"uid":"eve"}}}}"#, #"a> {"r":2,"a":"p","b":{"p":"/own/eve","d":1}}"#, ok(2),
        #"a> {"r":3,"a":"gauth","b":{"cred":"owner","noauth":true}}"#, #"a< {"r":3,"b":{"s":"ok","d":{"auth":null}}}"#,
        #"a> {"r":4,"a":"g","b":{"p":"/own/eve","q":{}}}"#,
        debug(
          #"Denied: read /own/eve\n  1:34 .read of /own/$uid (/own/eve) is false: auth.uid==$uid\n      auth.uid = null\n      $uid = \"eve\""#
        ),
        denied(4), #"a> {"r":5,"a":"gauth","b":{"cred":"owner"}}"#, #"a< {"r":5,"b":{"s":"ok","d":{"auth":null}}}"#,
        #"a> {"r":6,"a":"p","b":{"p":"/","d":null}}"#, ok(6),
      ]),
  ]

  @Test("Rules over the socket", arguments: transcripts)
  func rules(_ transcript: Transcript) async throws { try await transcript.play() }
}

extension Transcript {
  fileprivate init(_ name: String, rules: String, _ lines: [String]) {
    self.init(name)
    self.lines = [rules] + lines.map { $0.hasPrefix("PUT /") && !$0.contains(".json") ? Self.withSuffix($0) : $0 }
  }

  /// `PUT /a 1` as `PUT /a.json 1`.
  private static func withSuffix(_ line: String) -> String {
    let words = line.split(separator: " ", maxSplits: 2)
    return "\(words[0]) \(words[1]).json \(words[2])"
  }
}
