import TreeModel

/// Reads a JSON object member by member, and finds those that nobody asked for.
struct SettingsReader {
  private let members: [JSON.Member]
  private let place: String
  private var seen: Set<String> = []

  init(_ json: JSON, _ place: String) throws(LinkFault) {
    guard let members = json.object else { throw .invalid("\(place) must be a JSON object.") }
    self.members = members
    self.place = place
  }

  func has(_ name: String) -> Bool { members.contains { $0.key == name } }

  /// The value of a member; nil if it is missing or null.
  mutating func value(_ name: String) -> JSON? {
    seen.insert(name)
    guard let value = members.last(where: { $0.key == name })?.value, !value.isNull else { return nil }
    return value
  }

  mutating func text(_ name: String) throws(LinkFault) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.string, text.utf8.count <= 4096 else { throw .invalid("\(place): \(name) must be a text.") }
    return text.isEmpty ? nil : text
  }

  mutating func required(_ name: String) throws(LinkFault) -> String {
    guard let text = try text(name) else { throw .invalid("\(place): \(name) is missing.") }
    return text
  }

  mutating func flag(_ name: String) throws(LinkFault) -> Bool? {
    guard let value = value(name) else { return nil }
    guard let flag = value.bool else { throw .invalid("\(place): \(name) must be true or false.") }
    return flag
  }

  mutating func number(_ name: String, _ range: ClosedRange<Int64>) throws(LinkFault) -> Int64? {
    guard let value = value(name) else { return nil }
    guard let number = value.int, range.contains(number) else {
      throw .invalid("\(place): \(name) must be an integer from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  mutating func values(_ name: String) throws(LinkFault) -> [JSON] {
    guard let value = value(name) else { return [] }
    guard let list = value.array, list.count <= 1000 else {
      throw .invalid("\(place): \(name) must be a list, of 1000 at most.")
    }
    return list
  }

  mutating func texts(_ name: String) throws(LinkFault) -> [String] {
    let place = place
    return try values(name).map { value throws(LinkFault) in
      guard let text = value.string, !text.isEmpty, text.utf8.count <= 4096 else {
        throw .invalid("\(place): \(name) must hold texts that are not empty.")
      }
      return text
    }
  }

  mutating func object(_ name: String) throws(LinkFault) -> SettingsReader? {
    guard let value = value(name) else { return nil }
    return try SettingsReader(value, name)
  }

  mutating func objects(_ name: String) throws(LinkFault) -> [SettingsReader] {
    try values(name).map { value throws(LinkFault) in try SettingsReader(value, name) }
  }

  /// Refuses members that nobody asked for.
  func finish() throws(LinkFault) {
    guard let stranger = members.first(where: { !seen.contains($0.key) }) else { return }
    throw .invalid(
      "\(place): there is no \"\(stranger.key.prefix(80))\"; there is \(seen.sorted().joined(separator: ", ")).")
  }
}
