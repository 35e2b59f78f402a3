import FunctionsKit
import StorageCore
import TreeModel

/// A function that storage knows and nobody registered any more.
struct MissingFunction: Sendable {
  let record: FunctionRecord
  /// What it wanted; nil if it cannot be read any more.
  let pattern: PathPattern?
  let triggers: [FunctionDefinition.Trigger]

  init(_ record: FunctionRecord) {
    self.record = record
    pattern = try? PathPattern(parsingOwn: record.pattern)
    triggers = record.kinds.split(separator: ",").compactMap { FunctionDefinition.Trigger(rawValue: String($0)) }
  }

  /// Whether it would have handled an event. Filters are code, and gone with it.
  func wanted(_ event: EventRecord, at path: Path) -> Bool {
    guard let pattern, triggers.contains(where: { $0.admits(event.kind) }), pattern.match(path) != nil else { return false }
    return record.since[event.namespace].map { event.id.revision > $0 } ?? true
  }
}
