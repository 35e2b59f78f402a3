import ClientLink
import ClientRuntime
import SyncModel
import TreeModel

/// What a listener is told.
public enum DataEventType: Int, Sendable, CaseIterable {
  /// A child came into the window.
  case childAdded
  /// A child left the window.
  case childRemoved
  /// A child's value is another.
  case childChanged
  /// A child stands somewhere else in the order.
  case childMoved
  /// The window as a whole is another.
  case value

  var kind: TreeEventKind {
    switch self {
    case .childAdded: .added
    case .childRemoved: .removed
    case .childChanged: .changed
    case .childMoved: .moved
    case .value: .value
    }
  }
}

/// The number of a listener.
public typealias DatabaseHandle = UInt

extension DatabaseQuery {
  /// Calls the closure on the callback queue for what is there, and for every change.
  ///
  /// - Returns: the listener's number, for ``removeObserver(withHandle:)``.
  @discardableResult
  public final func observe(_ eventType: DataEventType, with block: @escaping (DataSnapshot) -> Void) -> DatabaseHandle {
    observe(eventType, andPreviousSiblingKeyWith: { snapshot, _ in block(snapshot) }, withCancel: nil)
  }

  /// As above; `cancelBlock` is called once if the rules do not, or no longer, allow it.
  @discardableResult
  public final func observe(
    _ eventType: DataEventType, with block: @escaping (DataSnapshot) -> Void, withCancel cancelBlock: ((any Error) -> Void)?
  ) -> DatabaseHandle {
    observe(eventType, andPreviousSiblingKeyWith: { snapshot, _ in block(snapshot) }, withCancel: cancelBlock)
  }

  /// As above; the closure gets the name of the child before in the order, too.
  @discardableResult
  public final func observe(
    _ eventType: DataEventType, andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)? = nil
  ) -> DatabaseHandle {
    let (event, cancel) = (Boxed(block), Boxed(cancelBlock))
    return database.core.observe(self, [eventType.kind], onQueue: true) { snapshot, treeEvent in
      event.value(snapshot, treeEvent.previous?.text)
    } cancelled: { error in
      cancel.value?(error)
    }
  }

  /// Calls the closure once.
  public final func observeSingleEvent(
    of eventType: DataEventType, with block: @escaping (DataSnapshot) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)? = nil
  ) {
    observeSingleEvent(of: eventType, andPreviousSiblingKeyWith: { snapshot, _ in block(snapshot) }, withCancel: cancelBlock)
  }

  /// Calls the closure once, with the name of the child before in the order.
  public final func observeSingleEvent(
    of eventType: DataEventType, andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)? = nil
  ) {
    let (event, cancel) = (Boxed(block), Boxed(cancelBlock))
    let isDone = Locked(false)
    let handle = Locked<DatabaseHandle?>(nil)
    let number = database.core.observe(self, [eventType.kind], onQueue: true) { [weak database] snapshot, treeEvent in
      let isFirst = isDone.withLock { done in
        defer { done = true }
        return !done
      }
      guard isFirst else { return }
      if let number = handle.copy { database?.core.removeObserver(number) }
      event.value(snapshot, treeEvent.previous?.text)
    } cancelled: { error in
      cancel.value?(error)
    }
    handle.withLock { $0 = number }
    if isDone.copy { database.core.removeObserver(number) }
  }

  /// Waits for one event.
  public final func observeSingleEventAndPreviousSiblingKey(of eventType: DataEventType) async -> (DataSnapshot, String?) {
    await withCheckedContinuation { continuation in
      observeSingleEvent(of: eventType, andPreviousSiblingKeyWith: { continuation.resume(returning: ($0, $1)) }) { [self] _ in
        continuation.resume(returning: (DataSnapshot(ref, .absent), nil))
      }
    }
  }

  /// Ends a listener: its closures are not called any more.
  public final func removeObserver(withHandle handle: DatabaseHandle) { database.core.removeObserver(handle) }

  /// Ends all listeners of this place and window.
  public final func removeAllObservers() {
    guard case .success(let listened) = target else { return }
    database.core.removeObservers(of: listened)
  }

  /// Keeps the window's data at hand, and with persistence on disk, without a listener.
  public final func keepSynced(_ isKept: Bool) {
    guard case .success(let listened) = target, !listened.isLocal else { return }
    database.core.keepSynced(listened, isKept)
  }
}

extension DatabaseCore {
  /// Begins to listen.
  ///
  /// - `onQueue`: whether the closures run on the callback queue; else on the database's own.
  func observe(
    _ query: DatabaseQuery, _ kinds: Set<TreeEventKind>, onQueue: Bool,
    event: @escaping @Sendable (DataSnapshot, TreeEvent) -> Void, cancelled: @escaping @Sendable (DatabaseError) -> Void
  ) -> DatabaseHandle {
    let handle = handles.withLock { number in
      number += 1
      return number
    }
    let isActive = Locked(true)
    activity.withLock { $0[handle] = isActive }
    let callbacks = environment.callbacks
    let deliver: @Sendable (@escaping @Sendable () -> Void) -> Void = { work in
      let guarded: @Sendable () -> Void = { if isActive.copy { work() } }
      if onQueue { callbacks.call(guarded) } else { guarded() }
    }
    let listened: ListenSpec
    switch query.target {
    case .success(let success): listened = success
    case .failure(let error):
      deliver { cancelled(error) }
      return handle
    }
    let ref = query.ref
    let observer = Observer(handle: handle, isActive: isActive) { treeEvent in
      let place = treeEvent.key.map { ref.child($0) } ?? ref
      let snapshot = DataSnapshot(place, treeEvent.node, query: treeEvent.key == nil ? listened.query : Query())
      deliver { event(snapshot, treeEvent) }
    } cancelled: { refusal in
      let error = DatabaseError(refusal, at: listened.path.description)
      deliver { cancelled(error) }
    }
    post { core in
      guard isActive.copy else { return }
      core.store?.recall(listened, core: core)
      let id = core.session.listen(listened, to: kinds, at: core.now)
      core.observers[id] = observer
      core.listenerOfHandle[handle] = id
    }
    return handle
  }

  func removeObserver(_ handle: DatabaseHandle) {
    activity.withLock { $0.removeValue(forKey: handle) }?.withLock { $0 = false }
    post { core in
      guard let id = core.listenerOfHandle.removeValue(forKey: handle) else { return }
      core.observers[id] = nil
      core.session.unlisten(id, at: core.now)
    }
  }

  func removeObservers(of listened: ListenSpec) {
    post { core in
      for (id, observer) in core.observers where core.session.tree.listened(of: id) == listened {
        core.activity.withLock { $0.removeValue(forKey: observer.handle) }?.withLock { $0 = false }
        core.listenerOfHandle[observer.handle] = nil
        core.observers[id] = nil
        core.session.unlisten(id, at: core.now)
      }
    }
  }

  func keepSynced(_ listened: ListenSpec, _ isKept: Bool) {
    post { core in
      if isKept {
        guard core.kept[listened] == nil else { return }
        core.store?.recall(listened, core: core)
        core.kept[listened] = core.session.listen(listened, to: [], at: core.now)
      } else if let id = core.kept.removeValue(forKey: listened) {
        core.session.unlisten(id, at: core.now)
      }
    }
  }
}
