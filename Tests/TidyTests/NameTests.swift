import Testing

/// A name says what a thing is. These words say nothing, or have another job here.
@Suite struct NameTests {
  /// Never, wherever in the name.
  static let words: Set<String> = ["Manager", "Helper", "Helpers", "Util", "Utils", "Utilities", "Misc", "Impl"]
  /// Never at the end.
  static let endings: Set<String> = ["Processor", "Wrapper", "Info", "Data", "V2"]
  /// Never alone.
  static let alone: Set<String> = ["Common", "Shared", "Base", "Core", "Handler", "Extensions", "Constants", "Types", "New"]

  /// Names that Firebase's SDK gave to what games call.
  static let given: Set<Substring> = [
    "ActionCodeInfo", "AdditionalUserInfo", "InAppMessagingCampaignInfo", "InAppMessagingImageData", "MultiFactorInfo",
    "MutableData", "UserInfo",
  ]

  static func complaint(_ name: Substring) -> String? {
    if given.contains(name) { return nil }
    let parts = camelWords(name)
    if let word = parts.first(where: { words.contains($0) }) { return "\"\(word)\" says nothing about \(name)" }
    if let last = parts.last, endings.contains(last), parts.count > 1 { return "\(name) ends in \"\(last)\"" }
    if alone.contains(String(name)) || parts.first == "New" { return "\"\(name)\" could be anything" }
    return nil
  }

  private static func camelWords(_ name: Substring) -> [String] {
    var words: [String] = []
    for character in name {
      if character.isUppercase || words.isEmpty { words.append("") }
      words[words.count - 1].append(character)
    }
    return words
  }

  @Test("no file and no type has a vague name")
  func names() {
    let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
    var found: [Finding] = []
    for file in Repository.sources {
      for piece in file.name.split(separator: "+") {
        if let complaint = Self.complaint(piece) { found.append(file.finding(0, "file name: " + complaint)) }
      }
      for (line, text) in file.code.enumerated() {
        let words = text.words
        for (keyword, name) in zip(words, words.dropFirst()) where kinds.contains(keyword) && name.first?.isUppercase == true {
          if let complaint = Self.complaint(name) { found.append(file.finding(line, complaint)) }
        }
      }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test(
    "the rule knows good names from bad ones",
    arguments: [
      ("TreeManager", true), ("StringUtils", true), ("AccountInfo", true), ("Handler", true), ("NewThing", true),
      ("Types", true),
      ("Database", false), ("DatabaseReader", false), ("WriteDataError", false), ("UpgradeHandler", false), ("Core2", false),
    ])
  func rule(_ name: String, _ isBad: Bool) {
    #expect((Self.complaint(name[...]) != nil) == isBad)
  }
}
