import ClientLink
import ClientRuntime
import SyncModel
import TreeModel

extension DatabaseReference {
  /// Replaces what is at the place; nil deletes it. Listeners see it at once.
  public func setValue(_ value: Any?) { _ = write(value) }

  /// Replaces what is at the place, and says what becomes of it.
  public func setValue(_ value: Any?, withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void) {
    send(setting(value), block)
  }

  /// Replaces what is at the place, and waits until the server did it.
  @discardableResult
  nonisolated(nonsending) public func setValue(_ value: Any?) async throws -> DatabaseReference {
    try await finished(send(setting(value)))
  }

  /// Replaces value and priority.
  public func setValue(_ value: Any?, andPriority priority: Any?) { _ = send(setting(value, priority: priority)) }

  /// Replaces value and priority, and says what becomes of it.
  public func setValue(
    _ value: Any?, andPriority priority: Any?, withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void
  ) {
    send(setting(value, priority: priority), block)
  }

  /// Replaces value and priority, and waits until the server did it.
  @discardableResult
  nonisolated(nonsending) public func setValue(_ value: Any?, andPriority priority: Any?) async throws -> DatabaseReference {
    try await finished(send(setting(value, priority: priority)))
  }

  /// Replaces several places below, in one step; the names may be paths, nil deletes.
  public func updateChildValues(_ values: [AnyHashable: Any]) { _ = update(values) }

  /// Replaces several places below, in one step, and says what becomes of it.
  public func updateChildValues(
    _ values: [AnyHashable: Any], withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void
  ) {
    send(updating(values), block)
  }

  /// Replaces several places below, in one step, and waits until the server did it.
  @discardableResult
  nonisolated(nonsending) public func updateChildValues(_ values: [AnyHashable: Any]) async throws -> DatabaseReference {
    try await finished(send(updating(values)))
  }

  /// Deletes what is at the place.
  public func removeValue() { _ = remove() }

  /// Deletes what is at the place, and says what becomes of it.
  public func removeValue(completionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void) {
    send(setting(nil), block)
  }

  /// Deletes what is at the place, and waits until the server did it.
  @discardableResult
  nonisolated(nonsending) public func removeValue() async throws -> DatabaseReference { try await finished(remove()) }

  /// Replaces the priority of what is at the place; nil clears it.
  public func setPriority(_ priority: Any?) { _ = send(prioritising(priority)) }

  /// Replaces the priority, and says what becomes of it.
  public func setPriority(_ priority: Any?, withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void) {
    send(prioritising(priority), block)
  }

  /// Replaces the priority, and waits until the server did it.
  @discardableResult
  nonisolated(nonsending) public func setPriority(_ priority: Any?) async throws -> DatabaseReference {
    try await finished(send(prioritising(priority)))
  }

  /// Replaces what is at the place, never waits, and tells by the receipt what becomes of it.
  @discardableResult
  public func write(_ value: Any?) -> WriteReceipt { send(setting(value)) }

  /// Replaces several places below, in one step, and never waits.
  @discardableResult
  public func update(_ values: [AnyHashable: Any]) -> WriteReceipt { send(updating(values)) }

  /// Deletes what is at the place, and never waits.
  @discardableResult
  public func remove() -> WriteReceipt { send(setting(nil)) }
}

// MARK: Operations

extension DatabaseReference {
  typealias Operation = Result<WriteOperation, DatabaseError>

  func setting(_ value: Any?, priority: Any? = nil) -> Operation {
    operation { path throws(DatabaseError) in
      let node = try NodeValue.node(of: value, priority: priority, depth: path.depth)
      return node == .absent ? .remove(path) : .set(path, node)
    }
  }

  func updating(_ values: [AnyHashable: Any]) -> Operation {
    operation { path throws(DatabaseError) in
      let json = try NodeValue.json(of: values, at: "")
      do throws(WriteDataError) {
        return try .update(path, json: json)
      } catch {
        throw .invalidData(error.description)
      }
    }
  }

  func prioritising(_ priority: Any?) -> Operation {
    operation { path throws(DatabaseError) in
      let json = try NodeValue.json(of: priority, at: ".priority")
      do throws(WriteDataError) {
        return try .set(PathTarget(path: path, isPriority: true), json: json)
      } catch {
        throw .invalidData(error.description)
      }
    }
  }

  func operation(_ make: (Path) throws(DatabaseError) -> WriteOperation) -> Operation {
    path.flatMap { path in
      if path.keys.first == ListenSpec.infoKey {
        return .failure(.invalidPath("Invalid path: what is below .info is the client's own and cannot be written."))
      }
      do throws(DatabaseError) {
        return .success(try make(path))
      } catch {
        return .failure(error)
      }
    }
  }

  /// Writes.
  @discardableResult
  func send(_ operation: Operation, answered: (@Sendable (DatabaseError?) -> Void)? = nil) -> WriteReceipt {
    let receipt = WriteReceipt(self, clock: database.environment.clock)
    let place = placeText
    switch operation {
    case .failure(let error):
      receipt.move(to: .refused(error))
      database.environment.log(.warning, error.errorDescription ?? "")
      answered?(error)
    case .success(let operation):
      database.core.post { core in
        let id = core.session.write(operation, at: core.now)
        let observer = DatabaseCore.WriteObserver {
          receipt.move(to: .sent)
        } answered: { refusal in
          let error = refusal.map { DatabaseError($0, at: place) }
          receipt.move(to: error.map { $0 == .writeCanceled ? .superseded : .refused($0) } ?? .acknowledged)
          answered?(error)
        }
        core.receipts[id, default: []].append(observer)
      }
    }
    return receipt
  }

  private func send(_ operation: Operation, _ block: @escaping ((any Error)?, DatabaseReference) -> Void) {
    let boxed = Boxed(block)
    send(operation) { [self] error in
      database.environment.callbacks.call { boxed.value(error, self) }
    }
  }

  nonisolated(nonsending) private func finished(_ receipt: WriteReceipt) async throws -> DatabaseReference {
    try await receipt.acknowledged()
    return self
  }
}

extension DatabaseReference {
  /// Replaces what is at the place when the server loses this client.
  public func onDisconnectSetValue(_ value: Any?) { onDisconnect(setting(value)) }
  /// As above, and says whether the server will.
  public func onDisconnectSetValue(
    _ value: Any?, withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void
  ) {
    onDisconnect(setting(value), block)
  }
  /// As above, and waits until the server knows.
  @discardableResult
  nonisolated(nonsending) public func onDisconnectSetValue(_ value: Any?) async throws -> DatabaseReference {
    try await onDisconnectSet(setting(value))
  }

  /// Replaces value and priority when the server loses this client.
  public func onDisconnectSetValue(_ value: Any?, andPriority priority: Any?) {
    onDisconnect(setting(value, priority: priority))
  }
  /// As above, and says whether the server will.
  public func onDisconnectSetValue(
    _ value: Any?, andPriority priority: Any?, withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void
  ) {
    onDisconnect(setting(value, priority: priority), block)
  }
  /// As above, and waits until the server knows.
  @discardableResult
  nonisolated(nonsending) public func onDisconnectSetValue(_ value: Any?, andPriority priority: Any?) async throws
    -> DatabaseReference
  {
    try await onDisconnectSet(setting(value, priority: priority))
  }

  /// Replaces several places below when the server loses this client.
  public func onDisconnectUpdateChildValues(_ values: [AnyHashable: Any]) { onDisconnect(updating(values)) }
  /// As above, and says whether the server will.
  public func onDisconnectUpdateChildValues(
    _ values: [AnyHashable: Any], withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void
  ) {
    onDisconnect(updating(values), block)
  }
  /// As above, and waits until the server knows.
  @discardableResult
  nonisolated(nonsending) public func onDisconnectUpdateChildValues(_ values: [AnyHashable: Any]) async throws
    -> DatabaseReference
  {
    try await onDisconnectSet(updating(values))
  }

  /// Deletes what is at the place when the server loses this client.
  public func onDisconnectRemoveValue() { onDisconnect(setting(nil)) }
  /// As above, and says whether the server will.
  public func onDisconnectRemoveValue(withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void) {
    onDisconnect(setting(nil), block)
  }
  /// As above, and waits until the server knows.
  @discardableResult
  nonisolated(nonsending) public func onDisconnectRemoveValue() async throws -> DatabaseReference {
    try await onDisconnectSet(setting(nil))
  }

  /// Takes back what was to be done at the place and below.
  public func cancelDisconnectOperations() { onDisconnect(nil) }
  /// As above, and says whether the server knows.
  public func cancelDisconnectOperations(withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void) {
    onDisconnect(nil, block)
  }
  /// As above, and waits until the server knows.
  @discardableResult
  nonisolated(nonsending) public func cancelDisconnectOperations() async throws -> DatabaseReference {
    try await onDisconnectSet(nil)
  }

  /// - `operation`: nil takes back.
  private func onDisconnect(_ operation: Operation?, done: @escaping @Sendable (DatabaseError?) -> Void = { _ in }) {
    let place = placeText
    let what: (path: Path, operation: WriteOperation?)
    switch operation ?? self.operation({ path throws(DatabaseError) in .remove(path) }) {
    case .success(let success): what = (success.path, operation == nil ? nil : success)
    case .failure(let error):
      database.environment.log(.warning, error.errorDescription ?? "")
      return done(error)
    }
    database.core.post { core in
      let id = core.session.onDisconnect(what.path, what.operation, at: core.now)
      core.disconnects[id] = { refusal in done(refusal.map { DatabaseError($0, at: place) }) }
    }
  }

  private func onDisconnect(_ operation: Operation?, _ block: @escaping ((any Error)?, DatabaseReference) -> Void) {
    let boxed = Boxed(block)
    onDisconnect(operation) { [self] error in
      database.environment.callbacks.call { boxed.value(error, self) }
    }
  }

  nonisolated(nonsending) private func onDisconnectSet(_ operation: Operation?) async throws -> DatabaseReference {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      onDisconnect(operation) { error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
    return self
  }
}
