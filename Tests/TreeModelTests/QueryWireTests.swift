import Testing
import TreeModel

@Suite struct QueryWireTests {
  private static let low = QueryBound(value: 5, edge: .min, isInclusive: true)

  @Test(
    "query objects of the clients are read",
    arguments: [
      ("{}", Query()), (#"{"i":".priority"}"#, Query()), (#"{"i":".key"}"#, Query(order: .key)),
      (#"{"i":"a/b","l":2,"vf":"r"}"#, Query(order: .child("/a/b"), limit: .last(2))),
      (#"{"sp":5,"l":1}"#, Query(start: low, limit: .first(1))), (#"{"l":1}"#, Query(limit: .last(1))),
      (#"{"i":".value","sp":null,"ep":null}"#, Query(order: .value, start: .start(nil), end: .end(nil))),
      (
        #"{"i":".value","sp":5,"sn":"k","ep":5,"en":"k"}"#,
        Query(order: .value, start: .start(5, key: Key(unchecked: "k")), end: .end(5, key: Key(unchecked: "k")))
      ),
      (#"{"i":".value","sp":5,"sn":"[MAX_NAME]","sin":false}"#, Query(order: .value, start: .start(5, isInclusive: false))),
      (#"{"i":".value","ep":5,"en":"[MIN_NAME]","ein":false}"#, Query(order: .value, end: .end(5, isInclusive: false))),
      (
        #"{"i":".key","sp":"a","ep":"b"}"#,
        Query(order: .key, start: .key(Key(unchecked: "a")), end: .key(Key(unchecked: "b")))
      ),
    ])
  func reads(_ source: String, _ query: Query) throws {
    #expect(try Query(wire: JSONParser.parse(source)) == query)
  }

  @Test(
    "a query object that is not legal is refused",
    arguments: [
      ("[]", .notAnObject), (#"{"i":5}"#, .illegalIndex), (#"{"i":"a.b"}"#, .illegalIndex), (#"{"i":"/"}"#, .illegalIndex),
      (#"{"sp":[1]}"#, .illegalBound), (#"{"sp":1,"sn":2}"#, .illegalBound), (#"{"i":".key","sp":5}"#, .illegalKeyBound),
      (#"{"l":0}"#, .illegalLimit), (#"{"l":1.5}"#, .illegalLimit), (#"{"l":"1"}"#, .illegalLimit),
      (#"{"l":1,"vf":"x"}"#, .illegalLimit),
    ] as [(String, QueryError.Code)])
  func refuses(_ source: String, _ code: QueryError.Code) throws {
    let json = try JSONParser.parse(source)
    #expect(thrown(QueryError.self) { _ = try Query(wire: json) }?.code == code)
  }

  @Test(
    "a query comes back from its object",
    arguments: [
      Query(), Query(order: .key, start: .key(Key(unchecked: "a"), isInclusive: false), limit: .first(3)),
      Query(order: .value, start: .start("x", key: Key(unchecked: "k")), end: .end(nil, isInclusive: false)),
      Query(order: .child("/a/b"), start: .start(true, isInclusive: false), end: .end(2.5), limit: .last(9)),
    ])
  func roundTrip(_ query: Query) throws {
    #expect(try Query(wire: query.wire) == query)
  }
}
