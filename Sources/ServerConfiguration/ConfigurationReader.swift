package import FunctionsKit
import Glibc
import StorageCore
import TreeModel

/// Reads one object of a configuration file, member by member.
///
/// Every read records the name, so that unknown members can be refused with the nearest known name; a value of the wrong type
/// or out of its range is recorded as an error and read as nil.
package final class ConfigurationReader {
  /// What is wrong, gathered from all sections.
  final class Diagnostics {
    fileprivate(set) var all: [ConfigurationError] = []
    /// Warnings.
    fileprivate(set) var warnings: [ConfigurationError] = []
    /// The files and folders that are named.
    fileprivate(set) var files: [NamedFile] = []
    /// The settings that were asked for, whether they are there or not.
    fileprivate(set) var asked: Set<String> = []
    /// Where the settings that are there were given, by their names in sentences.
    fileprivate(set) var sources: [String: ServerConfiguration.Setting.Source] = [:]

    func add(_ error: ConfigurationError) { all.append(error) }
  }

  let diagnostics: Diagnostics
  let surroundings: ConfigurationEnvironment
  /// The folder that relative paths start from, with a slash at its end: the file's own.
  let folder: String
  /// The position of the object; of a missing one, that of the object around it.
  let position: ConfigurationError.Position
  /// Whether the file has the object.
  let isPresent: Bool
  private let members: [ConfigurationValue.Member]
  /// How the object is called in sentences: `mail.smtp`; empty for the whole file.
  let name: String
  private var asked: [String] = []

  private init(
    _ members: [ConfigurationValue.Member], name: String, at position: ConfigurationError.Position, isPresent: Bool,
    diagnostics: Diagnostics, folder: String, surroundings: ConfigurationEnvironment
  ) {
    self.members = members
    self.name = name
    self.position = position
    self.isPresent = isPresent
    self.diagnostics = diagnostics
    self.folder = folder
    self.surroundings = surroundings
  }

  /// Reads the object that a whole file is.
  ///
  /// - `file`: the file's absolute path.
  static func read<Result>(
    _ source: [UInt8], file: String, surroundings: ConfigurationEnvironment, diagnostics: Diagnostics,
    _ body: (ConfigurationReader) -> Result
  ) -> Result? {
    do {
      let value = try ConfigurationScanner.value(of: source)
      guard case .object(let members) = value.content else {
        diagnostics.add(ConfigurationError(at: value.position, "The configuration must be an object: { … }."))
        return nil
      }
      let folder = file.prefix(through: file.lastIndex(of: "/") ?? file.startIndex)
      let reader = ConfigurationReader(
        members, name: "", at: value.position, isPresent: true, diagnostics: diagnostics, folder: String(folder),
        surroundings: surroundings)
      return reader.finishing(body)
    } catch {
      diagnostics.add(error)
      return nil
    }
  }

  private func finishing<Result>(_ body: (ConfigurationReader) -> Result) -> Result {
    let result = body(self)
    for member in members where !asked.contains(member.key) {
      let section = name.isEmpty ? "" : " in \"\(name)\""
      let advice =
        NearestName.of(member.key, in: asked).map { "did you mean \"\($0)\"?" }
        ?? "there are \(asked.sorted().joined(separator: ", "))."
      diagnostics.add(ConfigurationError(at: member.position, "There is no setting \"\(member.key)\"\(section); \(advice)"))
    }
    return result
  }

  // MARK: Diagnostics

  /// Notes what is wrong with a member, or with its absence.
  func report(_ key: String, message: String) {
    diagnostics.add(ConfigurationError(at: position(of: key), message))
  }

  /// Notes a file or folder that a member names.
  func note(_ file: String, key: String) {
    diagnostics.files.append(NamedFile(position: position(of: key), setting: path(key), path: file))
  }

  /// Warns of a file with a secret that every user of the machine may read.
  func warnIfOpen(_ file: String, key: String) {
    guard surroundings.isOpenToAll(file) else { return }
    let advice = "every user of this machine can read \(file), which is a secret; run: chmod o-r \(file)"
    diagnostics.warnings.append(ConfigurationError(at: position(of: key), "\"\(path(key))\": \(advice)"))
  }

  /// The position of a member's value; of one that is missing, the object's.
  func position(of key: String) -> ConfigurationError.Position {
    members.first { $0.key == key }?.value.position ?? position
  }

  /// How a member is called in sentences.
  func path(_ key: String) -> String { name.isEmpty ? key : "\(name).\(key)" }

  private func expected(_ what: String, value: ConfigurationValue, key: String) {
    diagnostics.add(ConfigurationError(at: value.position, "\"\(path(key))\" must be \(what), not \(value.kind)."))
  }

  // MARK: Values

  /// The value as it is written; nil if it is missing.
  func value(_ key: String) -> ConfigurationValue? {
    if !asked.contains(key) { asked.append(key) }
    diagnostics.asked.insert(key)
    let value = members.first { $0.key == key }?.value
    if value != nil, diagnostics.sources[path(key)] == nil { diagnostics.sources[path(key)] = .file }
    return value
  }

  /// Notes that the file names a variable of the environment for a member's value.
  func noteEnvironment(_ key: String) { diagnostics.sources[path(key)] = .environment }

  /// Whether the member is there.
  func has(_ key: String) -> Bool { value(key) != nil }

  func text(_ key: String) -> String? {
    guard let value = value(key) else { return nil }
    guard case .string(let text) = value.content else {
      expected("a text", value: value, key: key)
      return nil
    }
    guard !text.isEmpty, text.utf8.count <= 4096, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      report(key, message: "\"\(path(key))\" must not be empty, longer than 4096 bytes, or hold control characters.")
      return nil
    }
    return text
  }

  /// A text that must be there.
  func required(_ key: String, example: String) -> String? {
    if let value = text(key) { return value }
    if !has(key) { report(key, message: "\"\(path(key))\" is missing; for example \"\(key)\": \"\(example)\".") }
    return nil
  }

  func flag(_ key: String) -> Bool? {
    guard let value = value(key) else { return nil }
    if case .bool(let flag) = value.content { return flag }
    expected("true or false", value: value, key: key)
    return nil
  }

  func integer(_ key: String, range: ClosedRange<Int>) -> Int? {
    guard let value = value(key) else { return nil }
    guard case .int(let number) = value.content else {
      expected("a whole number", value: value, key: key)
      return nil
    }
    guard let number = Int(exactly: number), range.contains(number) else {
      report(key, message: "\"\(path(key))\" must be \(range.lowerBound) to \(range.upperBound).")
      return nil
    }
    return number
  }

  /// One of some words.
  func choice(_ key: String, choices: [String]) -> String? {
    guard let text = text(key) else { return nil }
    if choices.contains(text) { return text }
    let list = choices.map { "\"\($0)\"" }.joined(separator: ", ")
    report(key, message: "\"\(path(key))\" must be one of \(list).")
    return nil
  }

  /// A list of texts.
  func texts(_ key: String) -> [String]? {
    elements(key)?.compactMap { element in
      if case .string(let text) = element.content, !text.isEmpty { return text }
      expected("a list of texts", value: element, key: key)
      return nil
    }
  }

  private func elements(_ key: String) -> [ConfigurationValue]? {
    guard let value = value(key) else { return nil }
    if case .array(let elements) = value.content { return elements }
    expected("a list", value: value, key: key)
    return nil
  }

  // MARK: Parts

  /// An object inside this one, read whole; an empty one if the file does not have it.
  func section<Section: ConfigurationSection>(_ key: String, type: Section.Type) -> Section {
    part(key).finishing(Section.init)
  }

  /// An object inside this one; nil if the file does not have it.
  func optionalSection<Section: ConfigurationSection>(_ key: String, type: Section.Type) -> Section? {
    has(key) ? section(key, type: type) : nil
  }

  /// A list of objects.
  func sections<Section: ConfigurationSection>(_ key: String, type: Section.Type) -> [Section]? {
    elements(key)?.enumerated().compactMap { index, element in
      guard case .object(let members) = element.content else {
        expected("a list of objects", value: element, key: key)
        return nil
      }
      return reader(members, name: "\(path(key))[\(index)]", position: element.position).finishing(Section.init)
    }
  }

  private func part(_ key: String) -> ConfigurationReader {
    guard let value = value(key) else { return reader([], name: path(key), position: position, isPresent: false) }
    guard case .object(let members) = value.content else {
      expected("an object", value: value, key: key)
      return reader([], name: path(key), position: value.position)
    }
    return reader(members, name: path(key), position: value.position)
  }

  private func reader(
    _ members: [ConfigurationValue.Member], name: String, position: ConfigurationError.Position, isPresent: Bool = true
  ) -> ConfigurationReader {
    ConfigurationReader(
      members, name: name, at: position, isPresent: isPresent, diagnostics: diagnostics, folder: folder,
      surroundings: surroundings)
  }
}

/// A part of the configuration that belongs to one subject: typed, with its defaults, its checks and its sentences.
///
/// To add one: a struct with an `init(_ reader:)` that asks the reader for each of its settings, and a line in
/// ``ServeConfiguration``. What a section does not ask for is refused as unknown; diagnostics are collected, not thrown, so a
/// section goes on with a default and every error of the file is listed at once.
package protocol ConfigurationSection: Sendable {
  /// Reads the section. A section that the file does not have is read from an empty object.
  init(_ reader: ConfigurationReader)
}

/// What reading a configuration needs of the machine; tests inject their own.
package struct ConfigurationEnvironment: Sendable {
  /// Looks up a variable of the environment.
  let variable: @Sendable (String) -> String?
  /// Reads a file, whole; the failure is a sentence.
  let file: @Sendable (String) throws(FileError) -> [UInt8]
  /// Whether every user of the machine may read a file.
  var isOpenToAll: @Sendable (String) -> Bool = { _ in false }
  /// Registers the deployment's functions: the file may hold settings of those, and of no others.
  package var functions: @Sendable (Functions) -> Void = { _ in }

  /// The process's own, without functions.
  package static let process = ConfigurationEnvironment(
    variable: { name in getenv(name).flatMap { $0.pointee == 0 ? nil : String(cString: $0) } },
    file: { (path) throws(FileError) in try FileBytes.read(path) },
    isOpenToAll: { FileBytes.isOpenToAll($0) })
}

/// Finds what was probably meant.
package enum NearestName {
  /// The name that is least unlike `text`; nil if none is like it.
  package static func of(_ text: String, in names: [String]) -> String? {
    let word = Array(text.lowercased().utf8.prefix(64))
    var best: (name: String, distance: Int)?
    for name in names {
      let distance = distance(word, Array(name.lowercased().utf8.prefix(64)))
      if distance < best?.distance ?? .max { best = (name, distance) }
    }
    guard let best, best.distance <= max(2, word.count / 3) else { return nil }
    return best.name
  }

  /// How many letters must be put in, taken out, replaced or swapped with their neighbour.
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var rows = [Array(0...b.count)]
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var cost = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, rows[i - 1][j - 1] + 1) }
        row.append(cost)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
