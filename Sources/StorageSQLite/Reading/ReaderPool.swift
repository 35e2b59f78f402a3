internal import StorageCore
internal import Synchronization

/// The readers' connections. A snapshot takes one for itself and gives it back.
///
/// There are as many connections as there are threads that read at the same moment: reads are synchronous, so the server's
/// threads are the bound, and nobody ever waits here (a bound of our own could deadlock a read inside a read). Of those,
/// ``SQLiteOptions/idleReadersMax`` are kept while nobody needs them.
final class ReaderPool: Sendable {
  private struct State {
    /// The one that was used last is the last.
    var idle: [SQLiteConnection] = []
    /// How many of them, from the first, nobody has taken since the last look.
    var unused = 0
    var closing: StorageError?
  }

  private let path: String
  private let options: SQLiteOptions
  private let state = Mutex(State())

  init(path: String, options: SQLiteOptions) {
    self.path = path
    self.options = options
  }

  /// A pool that gives nobody a connection.
  init(closedBy reason: StorageError) {
    path = ""
    options = SQLiteOptions()
    state.withLock { $0.closing = reason }
  }

  func take() throws(StorageError) -> SQLiteConnection {
    let (idle, closing) = state.withLock { state in
      defer { state.unused = min(state.unused, state.idle.count) }
      return (state.idle.popLast(), state.closing)
    }
    if let closing { throw closing }
    if let idle { return idle }
    let connection = try SQLiteConnection(path: path, vfs: options.vfs)
    for pragma in Pragmas.reader(options) { try connection.execute(pragma) }
    return connection
  }

  func give(_ connection: SQLiteConnection) {
    let isKept = state.withLock { state in
      guard state.closing == nil, state.idle.count < options.idleReadersMax else { return false }
      state.idle.append(connection)
      return true
    }
    if !isKept { connection.close() }
  }

  /// Closes the connections that nobody has taken since the last call: each keeps pieces of the file in memory.
  func closeUnused() {
    let unused = state.withLock { state in
      let unused = state.idle.prefix(state.unused)
      state.idle.removeFirst(state.unused)
      state.unused = state.idle.count
      return unused
    }
    for connection in unused { connection.close() }
  }

  /// Closes the idle connections; those in use are closed when they come back.
  func close() {
    let idle = state.withLock { state in
      state.closing = StorageError(.stopped, "The store is closed.")
      defer {
        state.idle = []
        state.unused = 0
      }
      return state.idle
    }
    for connection in idle { connection.close() }
  }
}
