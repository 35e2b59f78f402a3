package import FunctionsKit
import StorageCore
import TreeModel

/// The registered functions, arranged so that those which want a change are found in one walk. Immutable.
package struct TriggerTable: Sendable {
  /// The functions, in the order of their registration.
  package let definitions: [FunctionDefinition]
  /// Positions in ``definitions`` by pattern.
  private let trie: PathTrie
  private let positions: [String: Int]
  /// The settings of each function, as JSON; nil if it has none.
  let settings: [String?]

  /// Arranges the functions by their patterns. Their names must differ, which `Functions` sees to.
  package init(_ definitions: [FunctionDefinition]) {
    self.definitions = definitions
    var trie = PathTrie()
    var positions: [String: Int] = [:]
    for (position, definition) in definitions.enumerated() {
      trie.insert(definition.pattern, position)
      positions[definition.name] = position
    }
    self.trie = trie
    self.positions = positions
    settings = definitions.map { $0.settings.exists ? String(decoding: $0.settings.json(.export), as: UTF8.self) : nil }
  }

  /// The position of a function; nil if none has the name.
  package func position(of name: String) -> Int? { positions[name] }

  /// The definition of a function; nil if none has the name.
  package subscript(name: String) -> FunctionDefinition? {
    positions[name].map { definitions[$0] }
  }

  /// Whether a path, or one above it, matches any pattern: what is false for most writes, and cheap to ask.
  var isEmpty: Bool { definitions.isEmpty }

  /// Calls `body` for each function and each prefix of the path that its pattern matches, with the prefix's bytes.
  func forEachMatch(of place: PathBytes, body: (_ end: Int, _ function: Int) -> Void) {
    trie.forEachPrefixMatch(of: place, body: body)
  }

  /// Whether a function wants a change of this kind with these scalars at a path that its pattern matches.
  func wants(_ function: Int, kind: EventRecord.Kind, before: Scalar?, after: Scalar?) -> Bool {
    let definition = definitions[function]
    return definition.trigger.admits(kind) && definition.filter(before: before, after: after)
  }

  /// The functions that want an event, in the order of their registration.
  ///
  /// - `change`: the change of the leaf at exactly the event's path, if there was one.
  func wanting(_ place: PathBytes, kind: EventRecord.Kind, change: LeafChange?) -> [Int] {
    var found: [Int] = []
    trie.forEachPrefixMatch(of: place) { end, function in
      guard end == place.bytes.count, wants(function, kind: kind, before: change?.before, after: change?.after) else { return }
      found.append(function)
    }
    return found.count > 1 ? found.sorted() : found
  }
}

extension TriggerTable {
  /// The record of a run that had nothing to do.
  func skipped(_ delivery: Delivery, because reason: String, startedAt: Int64, finishedAt: Int64) -> ExecutionRecord {
    ExecutionRecord(
      event: delivery.event, function: definitions[delivery.function].name, outcome: .skipped, reason: reason,
      attempt: delivery.attempts + 1, startedAt: startedAt, finishedAt: finishedAt, settings: settings[delivery.function])
  }
}

extension FunctionDefinition.Trigger {
  /// Whether an event of this kind starts a function with this trigger.
  func admits(_ kind: EventRecord.Kind) -> Bool {
    switch self {
    case .onWrite: true
    case .onCreate: kind == .created
    case .onUpdate: kind == .updated
    case .onDelete: kind == .deleted
    }
  }
}
