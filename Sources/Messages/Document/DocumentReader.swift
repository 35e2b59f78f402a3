import TreeModel

/// Reads one object of a document, strictly: members that it does not know, and members that are there twice, are faults. What
/// cannot be read is noted, and read as nil.
struct DocumentReader {
  /// Where the object stands; empty for the whole document.
  let path: String
  let faults: CampaignFaults
  private let members: [JSON.Member]

  /// - `known`: the names of all members that there may be; nil where the names are the author's.
  /// - Returns: nil, with a fault, if it is no object.
  init?(_ json: JSON, at path: String, known: [String]?, faults: CampaignFaults) {
    self.path = path
    self.faults = faults
    guard let members = json.object else {
      faults.refuse("WRONG_TYPE", at: path, "\(path.isEmpty ? "A campaign" : "\"\(path)\"") must be an object: { … }.")
      return nil
    }
    self.members = members
    var seen: Set<[UInt8]> = []
    for member in members {
      let place = Self.join(path, String(member.key.prefix(80)))
      if !seen.insert(Array(member.key.utf8)).inserted {
        faults.refuse("DUPLICATE_MEMBER", at: place, "\"\(member.key.prefix(80))\" is there twice; keep one.")
      }
      if let known, !known.contains(member.key) {
        faults.refuse(
          "UNKNOWN_MEMBER", at: place,
          "There is no member \"\(member.key.prefix(80))\" here; there are \(known.joined(separator: ", ")).")
      }
    }
  }

  /// The names of the members, in their order.
  var names: [String] { members.map(\.key) }

  func has(_ name: String) -> Bool { value(name) != nil }

  /// The value; nil if it is missing or null.
  func value(_ name: String) -> JSON? {
    guard let value = members.last(where: { $0.key == name })?.value, !value.isNull else { return nil }
    return value
  }

  /// Whether the member is written as null.
  func isNull(_ name: String) -> Bool { members.last { $0.key == name }?.value.isNull == true }

  func place(_ name: String) -> String { Self.join(path, name) }

  static func join(_ path: String, _ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  func refuse(_ code: String, at name: String, _ message: String) { faults.refuse(code, at: place(name), message) }

  func wrongType(_ name: String, expected what: String) { refuse("WRONG_TYPE", at: name, "\"\(name)\" must be \(what).") }

  /// A text of so many UTF-16 units.
  func text(_ name: String, length: ClosedRange<Int> = 1...1000) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.string else {
      wrongType(name, expected: "a text")
      return nil
    }
    guard length.contains(text.utf16.count) else {
      refuse(
        "OUT_OF_RANGE", at: name,
        "\"\(name)\" must have \(length.lowerBound) to \(length.upperBound) characters; it has \(text.utf16.count).")
      return nil
    }
    return text
  }

  func integer(_ name: String, range: ClosedRange<Int>) -> Int? {
    guard let value = value(name) else { return nil }
    guard let number = value.int else {
      wrongType(name, expected: "a whole number")
      return nil
    }
    guard number >= Int64(range.lowerBound), number <= Int64(range.upperBound) else {
      refuse("OUT_OF_RANGE", at: name, "\"\(name)\" must be \(range.lowerBound) to \(range.upperBound).")
      return nil
    }
    return Int(number)
  }

  func flag(_ name: String) -> Bool? {
    guard let value = value(name) else { return nil }
    if let flag = value.bool { return flag }
    wrongType(name, expected: "true or false")
    return nil
  }

  /// The elements of a list, each with its path.
  func list(_ name: String, count: ClosedRange<Int>) -> [(json: JSON, path: String)]? {
    guard let value = value(name) else { return nil }
    guard let elements = value.array else {
      wrongType(name, expected: "a list")
      return nil
    }
    guard count.contains(elements.count) else {
      refuse(
        "OUT_OF_RANGE", at: name,
        "\"\(name)\" must have \(count.lowerBound) to \(count.upperBound) elements; it has \(elements.count).")
      return nil
    }
    return elements.enumerated().map { ($0.element, "\(place(name))[\($0.offset)]") }
  }

  /// A list of texts that are not empty.
  func texts(_ name: String, count: ClosedRange<Int>, length: Int = 200) -> [String]? {
    list(name, count: count)?.compactMap { element in
      guard let text = element.json.string, (1...length).contains(text.utf16.count) else {
        faults.refuse("WRONG_TYPE", at: element.path, "It must be a text of 1 to \(length) characters.")
        return nil
      }
      return text
    }
  }

  /// An object inside this one; nil if it is missing.
  func object(_ name: String, known: [String]?) -> DocumentReader? {
    guard let value = value(name) else { return nil }
    return DocumentReader(value, at: place(name), known: known, faults: faults)
  }
}
