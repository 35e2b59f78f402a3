import Synchronization

/// By what windows are searched: by the indexes, once the hub was told of them.
final class WindowSearch: Sendable {
  private let stored = Mutex<TreeReader?>(nil)

  var reader: TreeReader? {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }
}
