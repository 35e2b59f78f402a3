import AdminAPI
import FunctionsKit
import StorageCore
import TreeModel

extension FunctionDescription {
  /// A registered function, for the surfaces.
  init(_ definition: FunctionDefinition) {
    let kinds: Set<EventRecord.Kind> =
      switch definition.trigger {
      case .onCreate: [.created]
      case .onUpdate: [.updated]
      case .onDelete: [.deleted]
      case .onWrite: [.created, .updated, .deleted]
      }
    let noun =
      switch definition.trigger {
      case .onCreate: "a creation"
      case .onUpdate: "an update"
      case .onDelete: "a removal"
      case .onWrite: "any change"
      }
    let filter = definition.filter
    let settings: [UInt8]? = definition.settings.exists ? definition.settings.json(.plain) : nil
    self.init(
      name: definition.name, formerly: definition.options.formerly, pattern: definition.pattern,
      players: definition.players, kinds: kinds,
      runsOn: noun + filter.words, settings: settings.flatMap { try? JSONParser.parse($0) },
      example: filter.example.map { ($0.before, $0.after) }, admits: { filter(before: $0, after: $1) })
  }
}
