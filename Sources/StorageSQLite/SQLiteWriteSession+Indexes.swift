internal import StorageCore
internal import TreeModel

extension SQLiteWriteSession {
  func rules(of namespace: NamespaceID) throws(StorageError) -> RulesRecord? {
    let overlay = batch.overlays[namespace]
    if let pending = overlay?.rules { return pending }
    return overlay?.hidesStored == true ? nil : try db.rules(namespace)
  }

  func put(_ record: RulesRecord, in namespace: NamespaceID) {
    let overlay = batch.overlay(namespace)
    batch.record(.rules(namespace, overlay.rules))
    overlay.rules = record
  }

  func indexes(in namespace: NamespaceID) throws(StorageError) -> [IndexRecord] {
    let overlay = batch.overlays[namespace]
    let stored = overlay?.hidesStored == true ? [] : try db.indexes(namespace)
    guard let pending = overlay?.indexes, !pending.isEmpty else { return stored }
    var records: [IndexID: IndexRecord] = [:]
    for record in stored { records[record.id] = record }
    for (id, record) in pending { records[id] = record }
    return records.values.sorted { $0.id < $1.id }
  }

  func put(_ record: IndexRecord, in namespace: NamespaceID) {
    let before = batch.overlay(namespace).indexes.updateValue(record, forKey: record.id)
    batch.record(.index(namespace, record.id, before))
  }

  func removeIndex(_ id: IndexID, in namespace: NamespaceID) {
    let before = batch.overlay(namespace).indexes.updateValue(nil, forKey: id)
    batch.record(.index(namespace, id, before))
  }

  func setPlace(_ place: IndexPlace, isTaken: Bool, below parent: PathBytes, of index: IndexID, in namespace: NamespaceID) {
    let key = PlaceKey(index: index, parent: parent, place: place)
    let before = batch.overlay(namespace).places.updateValue(isTaken, forKey: key)
    batch.record(.place(namespace, key, before))
  }

  func removePlaces(of index: IndexID, in namespace: NamespaceID, limit: Int) {
    batch.overlay(namespace).removedPlaces.append((index, limit))
    batch.record(.removedPlaces(namespace))
  }

  func hasPlaces(of index: IndexID, in namespace: NamespaceID) throws(StorageError) -> Bool {
    if batch.overlays[namespace]?.hidesStored == true { return false }
    return try db.hasPlaces(namespace, of: index)
  }

  /// Writes what a batch has put into rules and indexes.
  func writeIndexes(of overlay: BatchOverlay, of ns: NamespaceID) throws(StorageError) {
    if let rules = overlay.rules {
      try connection.statement(.putRules).bind(ns.rawValue).bind(rules.source).bind(rules.updatedAt).bind(rules.lastIndex).run()
    }
    for (id, record) in overlay.indexes.sorted(by: { $0.key < $1.key }) {
      guard let record else {
        try connection.statement(.removeIndex).bind(ns.rawValue).bind(id.rawValue).run()
        continue
      }
      try connection.statement(.putIndex).bind(ns.rawValue).bind(id.rawValue).bind(record.pattern).bind(record.order)
        .bind(record.state.rawValue).bind(record.cursor?.bytes).bind(record.childCount).run()
    }
    for (index, limit) in overlay.removedPlaces {
      try connection.statement(.removePlaces).bind(ns.rawValue).bind(index.rawValue).bind(Int64(limit)).run()
    }
    guard !overlay.places.isEmpty else { return }
    for (key, isTaken) in overlay.places.sorted(by: { $0.key < $1.key }) {
      try connection.statement(isTaken ? .putPlace : .removePlace).bind(ns.rawValue).bind(key.index.rawValue)
        .bind(key.parent.bytes).bind(key.place.bytes).run()
    }
  }
}
