#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif
internal import StorageCore
internal import Synchronization
internal import TextFormats

/// One connection to a PostgreSQL server that takes writes, opened when it is needed and again when it broke.
///
/// Statements are sent in one go and their answers read in one: a round trip for a transaction. For one thread at a time.
final class PostgresLink {
  /// A parameter of a statement.
  enum Parameter {
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    case null
  }

  /// A statement with its parameters, `$1` and so on.
  struct Statement {
    let sql: String
    var parameters: [Parameter] = []

    init(_ sql: String, _ parameters: Parameter...) {
      self.sql = sql
      self.parameters = parameters
    }

    init(_ sql: String, with parameters: [Parameter]) {
      self.sql = sql
      self.parameters = parameters
    }
  }

  /// A row of an answer, its columns as PostgreSQL writes them; nil for NULL.
  struct Row {
    let columns: [[UInt8]?]

    func text(_ index: Int) -> String { String(decoding: columns[index] ?? [], as: UTF8.self) }
    func integer(_ index: Int) -> Int64 { Int64(text(index)) ?? 0 }
    func isNull(_ index: Int) -> Bool { columns[index] == nil }
    /// Bytes stand in hexadecimal digits behind `\x`.
    func bytes(_ index: Int) -> [UInt8] {
      guard let digits = columns[index], digits.count >= 2 else { return [] }
      return digits.withUnsafeBufferPointer { digits in
        [UInt8](unsafeUninitializedCapacity: digits.count / 2 - 1) { bytes, count in
          count = digits.count / 2 - 1
          for place in 0..<count {
            bytes[place] = Self.digit(digits[2 * place + 2]) << 4 | Self.digit(digits[2 * place + 3])
          }
        }
      }
    }

    private static func digit(_ letter: UInt8) -> UInt8 { letter <= 57 ? letter &- 48 : (letter | 32) &- 87 }
  }

  private let library: PostgresLibrary
  private let settings: String
  /// The same for each host alone: libpq tries no other host when one takes a connection and ends it, as a proxy of a dead server does.
  private let hosts: [String]
  private let order: HostOrder
  private var turn = 0
  private var connection: OpaquePointer?
  private var sent = 0
  /// What the server had to remark about what is being read.
  private let remarks = ServerRemarks()
  /// Whether waiting is over: told by another thread.
  private let isStopped = Atomic<Bool>(false)

  /// - `url`: a connection string of libpq (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING);
  ///   with several hosts the one that takes writes is looked for.
  /// - `order`: which host is tried first; of all links of a cell.
  init(_ url: String, order: HostOrder = HostOrder()) throws(StorageError) {
    self.order = order
    let (library, settings) = (try PostgresLibrary.load(), Self.completed(url))
    self.library = library
    self.settings = settings
    let isURL = settings.hasPrefix("postgres")
    // What libpq says of a string that it cannot read may quote the password.
    guard let found = library.hosts(in: settings), found.allSatisfy({ Int($0.port) != nil }) else {
      throw StorageError(
        .unsuitable,
        "This is no connection string of PostgreSQL, such as postgresql://USER:PASSWORD@HOST:5432/DATABASE. In a password / @ : % and the "
          + "like are written as %2F %40 %3A %25.")
    }
    hosts = found.map { host, port in
      settings + (isURL ? "&host=\(host)&port=\(port)" : " host=\(host) port=\(port)")
    }
  }

  deinit {
    close()
  }

  /// What a connection is opened with where the string says nothing else. `tcp_user_timeout`: a server behind a cut network is given
  /// up after ten seconds.
  private static func completed(_ url: String) -> String {
    let own = [
      ("target_session_attrs", "read-write"), ("connect_timeout", "3"), ("tcp_user_timeout", "10000"), ("keepalives_idle", "5"),
      ("keepalives_interval", "2"), ("keepalives_count", "3"), ("application_name", "doubloon"), ("client_encoding", "UTF8"),
    ]
    let missing = own.filter { !url.contains("\($0.0)=") }
    if url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") {
      return url + (url.contains("?") ? "&" : "?") + missing.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }
    return ([url] + missing.map { "\($0.0)=\($0.1)" }).joined(separator: " ")
  }

  /// Ends what waits, and whatever comes later: from any thread.
  func stop() { isStopped.store(true, ordering: .relaxed) }

  /// Ends the connection; the next statement opens another.
  func close() {
    if let connection { library.finish(connection) }
    connection = nil
    sent = 0
  }

  /// Whether statements were sent whose answers were not read.
  var isWaiting: Bool { sent > 0 }

  /// Runs statements as one transaction, and returns the rows of each.
  ///
  /// - `timeout`: how long the answers may take, in milliseconds.
  func run(_ statements: [Statement], timeout: Int = 10_000) throws(PostgresError) -> [[Row]] {
    try send(statements)
    return try receive(timeout: timeout)
  }

  /// Runs one statement.
  func run(_ sql: String, _ parameters: Parameter..., timeout: Int = 10_000) throws(PostgresError) -> [Row] {
    try run([Statement(sql, with: parameters)], timeout: timeout)[0]
  }

  /// Sends statements that are one transaction; their answers are read by ``receive(timeout:)``.
  func send(_ statements: [Statement]) throws(PostgresError) {
    precondition(sent == 0, "One transaction at a time.")
    let connection = try opened()
    remarks.text.withLock { $0 = nil }
    for statement in statements {
      guard Self.send(statement, library: library, connection: connection) else { throw broken() }
    }
    guard library.syncPipeline(connection) == 1, library.flush(connection) >= 0 else { throw broken() }
    sent = statements.count
  }

  /// The rows of each statement that was sent.
  ///
  /// - Throws: the first error; ``PostgresError/isUnknown`` where there was no answer in time, too.
  func receive(timeout: Int) throws(PostgresError) -> [[Row]] {
    let end = MonotonicTime.now() + Int64(timeout)
    var (rows, failure): ([[Row]], PostgresError?) = ([], nil)
    for _ in 0..<sent {
      var found: [Row] = []
      while let answer = try next(until: end) {
        defer { library.clear(answer) }
        switch library.outcome(answer) {
        case 1, 2: found += self.rows(of: answer)
        default: failure = failure ?? error(of: answer)
        }
      }
      rows.append(found)
    }
    // The end of the transaction: only what was answered before it, and it, is done.
    guard let last = try next(until: end) else { throw broken() }
    defer { library.clear(last) }
    sent = 0
    if let failure { throw failure }
    guard library.outcome(last) == 10 else {
      let reason = error(of: last)
      // The answer to the end of the transaction is still to come, and is nobody's.
      close()
      throw reason
    }
    if let remark = remarks.text.withLock(\.self) { throw PostgresError(state: PostgresError.warned, message: remark) }
    return rows
  }

  // MARK: The connection

  /// A role or a database may have commits wait for no standby; those of this program do, whatever is set.
  private static let waitingForStandbys =
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') <> 'remote_apply'"

  private func opened() throws(PostgresError) -> OpaquePointer {
    if let connection { return connection }
    guard !isStopped.load(ordering: .relaxed) else { throw PostgresError(state: "", message: "The server is ending.") }
    let made = try connected()
    _ = library.setNotice(
      made,
      { context, answer in
        guard let context, let answer else { return }
        Unmanaged<ServerRemarks>.fromOpaque(context).takeUnretainedValue().note(answer)
      }, Unmanaged.passUnretained(remarks).toOpaque())
    guard library.setNonBlocking(made, 1) == 0, library.enterPipeline(made) == 1 else { throw broken() }
    do throws(PostgresError) {
      _ = try run(Self.waitingForStandbys, timeout: 3000)
    } catch {
      close()
      throw error
    }
    return made
  }

  /// A new connection to a server that takes writes.
  private func connected() throws(PostgresError) -> OpaquePointer {
    var failure: PostgresError?
    turn = order.first
    // After a server that took connections, and did not answer: it may be the one that another has replaced.
    let start = hosts.isEmpty ? 0 : turn % hosts.count
    let alone = hosts.count > 1 ? Array(hosts[start...]) + Array(hosts[..<start]) : []
    for settings in turn == 0 ? [settings] + alone : alone + [settings] {
      guard !isStopped.load(ordering: .relaxed), let made = library.connect(settings) else { break }
      connection = made
      if library.status(made) == 0 { return made }
      let reason = broken()
      failure = failure ?? reason
    }
    throw failure ?? PostgresError(state: "", message: "No connection to PostgreSQL could be made.")
  }

  /// Ends the connection, and says why.
  private func broken() -> PostgresError {
    let reason = connection.flatMap { library.errorMessage($0) }.map { Self.line(String(cString: $0)) }
    close()
    return PostgresError(state: "", message: reason ?? "The connection to PostgreSQL is broken.")
  }

  /// The next answer; nil at the end of a statement's.
  private func next(until end: Int64) throws(PostgresError) -> OpaquePointer? {
    guard let connection else { throw broken() }
    while library.isBusy(connection) == 1 || library.flush(connection) == 1 {
      guard !isStopped.load(ordering: .relaxed), MonotonicTime.now() < end else {
        if !isStopped.load(ordering: .relaxed) { order.pass(turn) }
        close()
        throw PostgresError(state: "", message: "PostgreSQL has not answered in time.")
      }
      var waited = pollfd(fd: library.socket(connection), events: Int16(POLLIN), revents: 0)
      if library.flush(connection) == 1 { waited.events |= Int16(POLLOUT) }
      // In slices: the link may be stopped meanwhile.
      _ = poll(&waited, 1, 100)
      guard library.consume(connection) == 1 else { throw broken() }
    }
    return library.next(connection)
  }

  // MARK: Statements and answers

  private static func send(_ statement: Statement, library: PostgresLibrary, connection: OpaquePointer) -> Bool {
    // Texts end with a zero; bytes are sent as they are.
    var (buffers, lengths, formats): ([[UInt8]?], [Int32], [Int32]) = ([], [], [])
    var types: [UInt32] = []
    for parameter in statement.parameters {
      switch parameter {
      case .integer(let value):
        buffers.append(Array(String(value).utf8) + [0])
        types.append(20)
        formats.append(0)
      case .text(let text):
        buffers.append(Array(text.utf8) + [0])
        types.append(25)
        formats.append(0)
      case .bytes(let bytes):
        buffers.append(bytes)
        types.append(17)
        formats.append(1)
      case .null:
        buffers.append(nil)
        types.append(0)
        formats.append(0)
      }
      lengths.append(Int32(buffers[buffers.count - 1]?.count ?? 0))
    }
    return withPointers(to: buffers) { pointers in
      library.send(connection, statement.sql, Int32(buffers.count), types, pointers, lengths, formats, 0) == 1
    }
  }

  /// Calls `body` with the addresses of all buffers, which are copied: an empty one must have an address, too.
  private static func withPointers(to buffers: [[UInt8]?], _ body: (PostgresLibrary.Texts) -> Bool) -> Bool {
    var total = 0
    for buffer in buffers { total += (buffer?.count ?? 0) + 1 }
    return withUnsafeTemporaryAllocation(byteCount: max(1, total), alignment: 1) { bytes in
      var (pointers, offset): ([UnsafePointer<CChar>?], Int) = ([], 0)
      for buffer in buffers {
        guard let buffer else {
          pointers.append(nil)
          continue
        }
        let place = UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + buffer.count + 1])
        place.copyBytes(from: buffer)
        place[buffer.count] = 0
        pointers.append(place.baseAddress.map { UnsafePointer($0.assumingMemoryBound(to: CChar.self)) })
        offset += buffer.count + 1
      }
      return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
    }
  }

  private func rows(of answer: OpaquePointer) -> [Row] {
    let columns = library.columnCount(answer)
    return (0..<library.rowCount(answer)).map { row in
      Row(
        columns: (0..<columns).map { column in
          guard library.isNull(answer, row, column) == 0, let start = library.value(answer, row, column) else { return nil }
          return Array(UnsafeBufferPointer(start: start, count: Int(library.length(answer, row, column))))
        })
    }
  }

  private func error(of answer: OpaquePointer) -> PostgresError { Self.error(of: answer, library: library) }

  private static func error(of answer: OpaquePointer, library: PostgresLibrary) -> PostgresError {
    // The fields are named by letters: C the class, M the message.
    let state = library.field(answer, 67).map { String(cString: $0) } ?? ""
    let message = library.field(answer, 77).map { String(cString: $0) } ?? "PostgreSQL gave no reason."
    return PostgresError(state: state, message: line(message))
  }

  /// In one line.
  private static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { $0.trimmingSpaces() }.joined(separator: " ")
  }
}

/// Which of several hosts is tried first. A server that takes connections and does not answer may have been replaced by another, and
/// stands first in the connection string.
final class HostOrder: Sendable {
  private let turn = Atomic<Int>(0)

  /// Counts on with each server that was passed over.
  var first: Int { turn.load(ordering: .relaxed) }

  /// The server that was found in this turn is silent: the next is tried before it.
  func pass(_ silent: Int) {
    _ = turn.compareExchange(expected: silent, desired: silent + 1, ordering: .relaxed)
  }
}

/// What the server had to remark about what it answers.
private final class ServerRemarks: Sendable {
  let text = Mutex<String?>(nil)

  /// Keeps a warning; what PostgreSQL only notes is nothing to act on.
  func note(_ answer: OpaquePointer) {
    guard let library = try? PostgresLibrary.load(), let severity = library.field(answer, 86) ?? library.field(answer, 83),
      String(cString: severity) == "WARNING"
    else { return }
    let message = library.field(answer, 77).map { String(cString: $0) } ?? "a warning without words"
    text.withLock { $0 = message }
  }
}

extension Substring {
  fileprivate func trimmingSpaces() -> String {
    let start = drop { $0 == " " || $0 == "\t" }
    var text = String(start)
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}

/// Time that goes on while the machine sleeps, and that nobody can set: what leases are measured by.
public enum MonotonicTime {
  /// Lets the calling thread wait, in milliseconds.
  static func wait(_ time: Int64) { usleep(UInt32(time * 1000)) }

  /// Milliseconds since some moment.
  public static func now() -> Int64 {
    var time = timespec()
    #if os(Linux)
      clock_gettime(CLOCK_BOOTTIME, &time)
    #else
      clock_gettime(CLOCK_MONOTONIC, &time)
    #endif
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
