extension RoomReading {
  /// Calls `body` with every record of a kind, by key, page by page.
  public func forEachRecord(in namespace: NamespaceID, kind: String, _ body: (RoomRecord) -> Void) throws(StorageError) {
    var last: String?
    while true {
      let page = try records(in: namespace, kind: kind, after: last, isDescending: false, limit: 500)
      for record in page { body(record) }
      last = page.last?.key
      if page.count < 500 { return }
    }
  }
}
