import DequeModule
import TreeModel

/// The server's messages as bytes (firebase-js-sdk, `Connection.ts`).
///
/// Written by hand around the data, which come rendered: no tree of JSON values is built for a message.
enum SocketAnswers {
  /// The greeting. `x` lists what this server understands beyond the protocol: `k`, keys of writes. Other clients read the members
  /// that they know by name.
  static func hello(time: Int64, host: String, session: String) -> [UInt8] {
    var writer = JSONWriter(capacity: 160)
    writer.raw(#"{"t":"c","d":{"t":"h","d":{"ts":"#)
    writer.int(time)
    writer.raw(#","v":"5","h":"#)
    writer.string(host)
    writer.raw(#","s":"#)
    writer.string(session)
    writer.raw(#","x":["k"]}}}"#)
    return writer.bytes
  }

  /// A control message; clients drop those without a `d`.
  static func control(_ kind: StaticString, _ data: String? = nil) -> [UInt8] {
    var writer = JSONWriter(capacity: 64)
    writer.raw(#"{"t":"c","d":{"t":""#)
    writer.raw(kind)
    writer.raw(#"","d":"#)
    if let data { writer.string(data) } else { writer.null() }
    writer.raw("}}")
    return writer.bytes
  }

  /// An answer whose data `write` prints.
  static func ok(_ number: Int64, capacity: Int = 64, write: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(capacity: capacity)
    open(number, status: "ok", &writer)
    write(&writer)
    writer.raw("}}}")
    return writer.bytes
  }

  /// The answer to what yields nothing: an empty text.
  static func done(_ number: Int64) -> [UInt8] { ok(number) { $0.raw("\"\"") } }

  static func refused(_ number: Int64, _ error: SocketError) -> [UInt8] {
    var writer = JSONWriter(capacity: 128)
    open(number, status: error.status, &writer)
    writer.string(error.message)
    writer.raw("}}}")
    return writer.bytes
  }

  private static func open(_ number: Int64, status: StaticString, _ writer: inout JSONWriter) {
    writer.raw(#"{"t":"d","d":{"r":"#)
    writer.int(number)
    writer.raw(#","b":{"s":""#)
    writer.raw(status)
    writer.raw(#"","d":"#)
  }

  /// A push of data: `d` overwrites, `m` merges.
  static func data(isMerge: Bool, path: String, body: [UInt8], tag: Int64?) -> [UInt8] {
    var writer = JSONWriter(capacity: body.count + path.utf8.count + 64)
    writer.raw(isMerge ? #"{"t":"d","d":{"a":"m","b":{"p":"# : #"{"t":"d","d":{"a":"d","b":{"p":"#)
    writer.string(path)
    writer.raw(#","d":"#)
    writer.raw(body)
    if let tag {
      writer.raw(#","t":"#)
      writer.int(tag)
    }
    writer.raw("}}}")
    return writer.bytes
  }

  /// Tells that a listen was revoked. JavaScript wants a filtered listen's query in an array, and nothing for the default.
  static func cancelled(path: String, query: JSON?) -> [UInt8] {
    var writer = JSONWriter(capacity: 96)
    writer.raw(#"{"t":"d","d":{"a":"c","b":{"p":"#)
    writer.string(path)
    if let query {
      writer.raw(#","q":"#)
      writer.write(.array([query]))
    }
    writer.raw("}}}")
    return writer.bytes
  }

  /// A text for the client's developer, which clients print (firebase-js-sdk, `PersistentConnection.ts`).
  static func debug(_ message: String) -> [UInt8] {
    var writer = JSONWriter(capacity: message.utf8.count + 64)
    writer.raw(#"{"t":"d","d":{"a":"sd","b":{"msg":"#)
    writer.string(message)
    writer.raw("}}}")
    return writer.bytes
  }

  /// Tells that the credential is no longer valid: the client closes, gets another, and comes again.
  static func credentialRevoked(_ status: StaticString, message: String) -> [UInt8] {
    var writer = JSONWriter(capacity: 96)
    writer.raw(#"{"t":"d","d":{"a":"ac","b":{"s":""#)
    writer.raw(status)
    writer.raw(#"","d":"#)
    writer.string(message)
    writer.raw("}}}")
    return writer.bytes
  }
}

/// Has what is done in any order answered in the order in which it began. Pure.
struct AnswerOrder<Answer> {
  private var answers: Deque<Answer?> = []
  /// The number of the first.
  private var first = 0

  /// How many have begun and are not answered.
  var count: Int { answers.count }

  /// Whether everything before this number is answered.
  func isNext(_ number: Int) -> Bool { number == first }

  /// Something begins.
  ///
  /// - Returns: its number.
  mutating func begin() -> Int {
    answers.append(nil)
    return first + answers.count - 1
  }

  /// Something that is done already is answered behind what has begun.
  mutating func append(_ answer: Answer) { answers.append(answer) }

  /// What has this number is done.
  mutating func finish(_ number: Int, _ answer: Answer) { answers[number - first] = answer }

  /// The next answer; nil while what it belongs to is not done.
  mutating func next() -> Answer? {
    guard let oldest = answers.first, let answer = oldest else { return nil }
    answers.removeFirst()
    first += 1
    return answer
  }
}
