import Testing
import TreeModel

@Suite struct TreeNodeCodingTests {
  struct Player: Codable, Equatable {
    var name: String
    var level: Int
    var ratio: Double = 0.5
    var admin = false
    var referrer: String?
    var scores: [Int] = []
    var tags: [String: Bool] = [:]
    var friends: [Friend?] = []
    var visits: [Int: UInt8] = [:]
    var kind = Kind.gold
  }

  struct Friend: Codable, Equatable {
    var since: Int64?
    var note: Float?
  }

  enum Kind: String, Codable { case gold, silver }

  enum Shape: Codable, Equatable {
    case dot
    case circle(radius: Double)
  }

  class Animal: Codable {
    var legs: Int
    init(legs: Int) { self.legs = legs }
  }

  final class Dog: Animal {
    var name: String
    init(name: String) {
      self.name = name
      super.init(legs: 4)
    }
    enum Keys: String, CodingKey { case name }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      name = try container.decode(String.self, forKey: .name)
      try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(name, forKey: .name)
      try super.encode(to: container.superEncoder())
    }
  }

  @Test(
    "a value becomes a node and comes back",
    arguments: [
      Player(name: "Ann", level: 5),
      Player(
        name: "é", level: .max, ratio: 2, admin: true, referrer: "bob", scores: [1, 2, 3], tags: ["a": true],
        friends: [Friend(since: 5), nil, Friend(note: 1.5)], visits: [7: 255, -1: 0], kind: .silver),
    ])
  func roundTrip(_ player: Player) throws {
    let node = try TreeNodeEncoder.encode(player)
    #expect(try TreeNodeDecoder.decode(Player.self, from: node) == player)
  }

  @Test("the node is what a client would have written")
  func encoded() throws {
    let player = Player(name: "Ann", level: 5, scores: [7, 8], friends: [nil, Friend(since: 1)])
    let expected =
      #"{"admin":false,"friends":{"1":{"since":1}},"kind":"gold","level":5,"name":"Ann","ratio":0.5,"scores":{"0":7,"1":8}}"#
    #expect(text(try TreeNodeEncoder.encode(player).json(.export)) == expected)
  }

  @Test("enums with parts and classes with a base come back")
  func structures() throws {
    for shape in [Shape.dot, .circle(radius: 2)] {
      let node = try TreeNodeEncoder.encode(["shape": shape])
      if shape == .dot {
        // An empty payload is absence: the tree cannot hold it.
        #expect(!node.exists)
      } else {
        #expect(try TreeNodeDecoder.decode([String: Shape].self, from: node) == ["shape": shape])
      }
    }
    let dog = try TreeNodeDecoder.decode(Dog.self, from: TreeNodeEncoder.encode(Dog(name: "Rex")))
    #expect(dog.name == "Rex" && dog.legs == 4)
  }

  @Test("absence is nil, an empty list and an empty map, but no value")
  func absence() throws {
    #expect(try TreeNodeDecoder.decode(Int?.self, from: .absent) == nil)
    #expect(try TreeNodeDecoder.decode([Int].self, from: .absent) == [])
    #expect(try TreeNodeDecoder.decode([String: Int].self, from: .absent) == [:])
    #expect(try TreeNodeDecoder.decode(Friend.self, from: .absent) == Friend())
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode(Int.self, from: .absent) }
    let error = thrown(DecodingError.self) { _ = try TreeNodeDecoder.decode(Player.self, from: ["name": "Ann"]) }
    guard case .keyNotFound(let key, _) = error else { return #expect(Bool(false), "\(String(describing: error))") }
    #expect(key.stringValue == "level")
    #expect(!(try TreeNodeEncoder.encode(Int?.none).exists))
    #expect(!(try TreeNodeEncoder.encode([Int]()).exists))
  }

  @Test("kinds are not turned into each other")
  func kinds() throws {
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode(String.self, from: 5) }
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode(Int.self, from: "5") }
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode(Int.self, from: true) }
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode(Bool.self, from: 1) }
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode(Double.self, from: "0.5") }
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode([String: Int].self, from: 5) }
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode(Int.self, from: ["a": 5]) }
  }

  @Test("numbers are read if they are exact")
  func numbers() throws {
    #expect(try TreeNodeDecoder.decode(Int.self, from: .leaf(.double(5))) == 5)
    #expect(try TreeNodeDecoder.decode(Double.self, from: 5) == 5)
    #expect(try TreeNodeDecoder.decode(Int64.self, from: .leaf(.int(9_007_199_254_740_993))) == 9_007_199_254_740_993)
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode(Int.self, from: 5.5) }
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode(UInt8.self, from: 256) }
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode(UInt.self, from: -1) }
    #expect(throws: EncodingError.self) { try TreeNodeEncoder.encode(UInt64.max) }
    #expect(throws: EncodingError.self) { try TreeNodeEncoder.encode(Double.infinity) }
    #expect(throws: EncodingError.self) { try TreeNodeEncoder.encode(["a.b": 1]) }
  }

  @Test("lists have integer keys, at least half of them; holes are nil")
  func lists() throws {
    #expect(try TreeNodeDecoder.decode([Int?].self, from: ["0": 1, "3": 2]) == [1, nil, nil, 2])
    #expect(try TreeNodeDecoder.decode([Int].self, from: ["0": 1, "1": 2]) == [1, 2])
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode([Int].self, from: ["0": 1, "2": 2]) }
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode([Int?].self, from: ["2000000000": 1]) }
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode([Int].self, from: ["a": 1]) }
  }

  @Test("an error names the child that does not fit")
  func errorPath() throws {
    let node: TreeNode = ["friends": ["0": ["since": "yesterday"]], "name": "Ann", "level": 1, "ratio": 1, "admin": true]
    let error = thrown(DecodingError.self) { _ = try TreeNodeDecoder.decode(Player.self, from: node) }
    guard case .typeMismatch(_, let context) = error else { return #expect(Bool(false), "\(String(describing: error))") }
    #expect(context.codingPath.map(\.stringValue) == ["friends", "0", "since"])
  }
}
