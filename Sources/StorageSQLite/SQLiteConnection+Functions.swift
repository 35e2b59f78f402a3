internal import StorageCore
internal import TreeModel

extension SQLiteConnection {
  private func keyed(_ query: Query, _ ns: NamespaceID, _ event: EventID) throws(StorageError) -> SQLiteStatement {
    try statement(query).bind(ns.rawValue).bind(event.epoch).bind(event.revision.rawValue).bind(event.path.bytes)
  }

  func execution(_ ns: NamespaceID, of event: EventID, by function: String) throws(StorageError) -> ExecutionRecord? {
    try keyed(.execution, ns, event).bind(function).first(readExecution)
  }

  func executions(_ ns: NamespaceID, of event: EventID) throws(StorageError) -> [ExecutionRecord] {
    try keyed(.executions, ns, event).all(readExecution)
  }

  func delivery(_ ns: NamespaceID, of event: EventID, to function: String) throws(StorageError) -> DeliveryRecord? {
    try keyed(.delivery, ns, event).bind(function).first(readDelivery)
  }

  func deliveries(_ ns: NamespaceID, of event: EventID) throws(StorageError) -> [DeliveryRecord] {
    try keyed(.deliveries, ns, event).all(readDelivery)
  }

  func deliveries(_ ns: NamespaceID, state: DeliveryRecord.State, after last: DeliveryRecord?, limit: Int)
    throws(StorageError) -> [DeliveryRecord]
  {
    // Without a last one: before every name, since a function has one.
    try statement(.deliveriesInState).bind(ns.rawValue).bind(state.rawValue).bind(last?.function ?? "")
      .bind(last?.event.epoch ?? 0).bind(last?.event.revision.rawValue ?? 0).bind(last?.event.path.bytes ?? [])
      .all(limit: limit, readDelivery)
  }

  func functions() throws(StorageError) -> [FunctionRecord] {
    try statement(.functions).all { row throws(StorageError) in
      FunctionRecord(
        name: try row.text(0), pattern: try row.text(1), kinds: try row.text(2), since: try since(row.text(3)),
        isPaused: row.int(4) != 0, pauseReason: try row.optionalText(5), updatedAt: row.int(6))
    }
  }

  private func since(_ text: String) throws(StorageError) -> [NamespaceID: Revision] {
    var since: [NamespaceID: Revision] = [:]
    for item in text.split(separator: ",") {
      let numbers = item.split(separator: ":").compactMap { Int64($0) }
      guard numbers.count == 2 else { throw damaged("a function's first revisions") }
      since[NamespaceID(rawValue: numbers[0])] = Revision(numbers[1])
    }
    return since
  }

  private func event(_ row: SQLiteStatement) -> EventID {
    EventID(epoch: row.int(0), revision: Revision(row.int(1)), path: PathBytes(bytes: row.bytes(2)))
  }

  func readExecution(_ row: SQLiteStatement) throws(StorageError) -> ExecutionRecord {
    ExecutionRecord(
      event: event(row), function: try row.text(3), outcome: try value(row.text(4), "an execution's outcome"),
      reason: try row.optionalText(5), attempt: Int(row.int(6)), startedAt: row.int(7), finishedAt: row.int(8),
      effect: row.optionalInt(9).map(Revision.init(rawValue:)), settings: try row.optionalText(10))
  }

  private func readDelivery(_ row: SQLiteStatement) throws(StorageError) -> DeliveryRecord {
    DeliveryRecord(
      event: event(row), kind: try value(row.text(4), "an event's kind"), hop: Int(row.int(5)), function: try row.text(3),
      state: try value(row.text(6), "a delivery's state"), attempts: Int(row.int(7)), crashes: Int(row.int(8)),
      nextAttemptAt: row.int(9), lastError: try row.text(10), updatedAt: row.int(11))
  }
}
