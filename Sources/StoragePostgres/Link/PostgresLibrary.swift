#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif
internal import StorageCore

/// PostgreSQL's client library, looked for when a server is told to use PostgreSQL: who does not needs no library, and the program is
/// the same one.
///
/// The functions and numbers are those of https://www.postgresql.org/docs/current/libpq.html, which have been the same in every
/// `libpq.so.5`; pipelines came with version 14.
struct PostgresLibrary: Sendable {
  typealias Connection = OpaquePointer
  typealias Answer = OpaquePointer
  typealias Texts = UnsafePointer<UnsafePointer<CChar>?>?

  let connect: @convention(c) (UnsafePointer<CChar>) -> Connection?
  private let parse:
    @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> UnsafeMutableRawPointer?
  private let freeParsed: @convention(c) (UnsafeMutableRawPointer) -> Void
  let status: @convention(c) (Connection) -> Int32
  let finish: @convention(c) (Connection) -> Void
  let errorMessage: @convention(c) (Connection) -> UnsafePointer<CChar>?
  let socket: @convention(c) (Connection) -> Int32
  let setNonBlocking: @convention(c) (Connection, Int32) -> Int32
  let enterPipeline: @convention(c) (Connection) -> Int32
  let syncPipeline: @convention(c) (Connection) -> Int32
  let send:
    @convention(c) (
      Connection, UnsafePointer<CChar>, Int32, UnsafePointer<UInt32>?, Texts, UnsafePointer<Int32>?, UnsafePointer<Int32>?,
      Int32
    ) -> Int32
  let flush: @convention(c) (Connection) -> Int32
  let consume: @convention(c) (Connection) -> Int32
  let isBusy: @convention(c) (Connection) -> Int32
  let next: @convention(c) (Connection) -> Answer?
  let outcome: @convention(c) (Answer) -> Int32
  let field: @convention(c) (Answer, Int32) -> UnsafePointer<CChar>?
  let rowCount: @convention(c) (Answer) -> Int32
  let columnCount: @convention(c) (Answer) -> Int32
  let value: @convention(c) (Answer, Int32, Int32) -> UnsafePointer<UInt8>?
  let length: @convention(c) (Answer, Int32, Int32) -> Int32
  let isNull: @convention(c) (Answer, Int32, Int32) -> Int32
  let clear: @convention(c) (Answer) -> Void
  let setNotice:
    @convention(c) (Connection, (@convention(c) (UnsafeMutableRawPointer?, Answer?) -> Void)?, UnsafeMutableRawPointer?) ->
      UnsafeRawPointer?

  /// The library of this machine.
  ///
  /// - Throws: `StorageError.Code.failed` with what to install.
  static func load() throws(StorageError) -> PostgresLibrary {
    switch loaded {
    case .success(let library): return library
    case .failure(let error): throw error
    }
  }

  private static let loaded = Result<PostgresLibrary, StorageError> { () throws(StorageError) in try PostgresLibrary() }

  private init() throws(StorageError) {
    guard let handle = dlopen("libpq.so.5", RTLD_NOW) else {
      throw StorageError(
        .failed, "PostgreSQL's client library (libpq.so.5) is not on this machine. Install it: apt-get install libpq5")
    }
    func find<Function>(_ name: String, _ type: Function.Type) throws(StorageError) -> Function {
      guard let symbol = dlsym(handle, name) else {
        throw StorageError(.failed, "PostgreSQL's client library has no \(name): it is older than 14. Install a newer libpq5.")
      }
      return unsafeBitCast(symbol, to: type)
    }
    connect = try find("PQconnectdb", (@convention(c) (UnsafePointer<CChar>) -> Connection?).self)
    parse = try find(
      "PQconninfoParse",
      (@convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> UnsafeMutableRawPointer?)
        .self)
    freeParsed = try find("PQconninfoFree", (@convention(c) (UnsafeMutableRawPointer) -> Void).self)
    status = try find("PQstatus", (@convention(c) (Connection) -> Int32).self)
    finish = try find("PQfinish", (@convention(c) (Connection) -> Void).self)
    errorMessage = try find("PQerrorMessage", (@convention(c) (Connection) -> UnsafePointer<CChar>?).self)
    socket = try find("PQsocket", (@convention(c) (Connection) -> Int32).self)
    setNonBlocking = try find("PQsetnonblocking", (@convention(c) (Connection, Int32) -> Int32).self)
    enterPipeline = try find("PQenterPipelineMode", (@convention(c) (Connection) -> Int32).self)
    syncPipeline = try find("PQpipelineSync", (@convention(c) (Connection) -> Int32).self)
    send = try find(
      "PQsendQueryParams",
      (@convention(c) (
        Connection, UnsafePointer<CChar>, Int32, UnsafePointer<UInt32>?, Texts, UnsafePointer<Int32>?, UnsafePointer<Int32>?,
        Int32
      ) -> Int32).self)
    flush = try find("PQflush", (@convention(c) (Connection) -> Int32).self)
    consume = try find("PQconsumeInput", (@convention(c) (Connection) -> Int32).self)
    isBusy = try find("PQisBusy", (@convention(c) (Connection) -> Int32).self)
    next = try find("PQgetResult", (@convention(c) (Connection) -> Answer?).self)
    outcome = try find("PQresultStatus", (@convention(c) (Answer) -> Int32).self)
    field = try find("PQresultErrorField", (@convention(c) (Answer, Int32) -> UnsafePointer<CChar>?).self)
    rowCount = try find("PQntuples", (@convention(c) (Answer) -> Int32).self)
    columnCount = try find("PQnfields", (@convention(c) (Answer) -> Int32).self)
    value = try find("PQgetvalue", (@convention(c) (Answer, Int32, Int32) -> UnsafePointer<UInt8>?).self)
    length = try find("PQgetlength", (@convention(c) (Answer, Int32, Int32) -> Int32).self)
    isNull = try find("PQgetisnull", (@convention(c) (Answer, Int32, Int32) -> Int32).self)
    clear = try find("PQclear", (@convention(c) (Answer) -> Void).self)
    setNotice = try find(
      "PQsetNoticeReceiver",
      (@convention(c) (
        Connection, (@convention(c) (UnsafeMutableRawPointer?, Answer?) -> Void)?, UnsafeMutableRawPointer?
      ) -> UnsafeRawPointer?).self)
  }

  /// The hosts of a connection string, each with its port; nil where it is none.
  func hosts(in settings: String) -> [(host: String, port: String)]? {
    guard let options = parse(settings, nil) else { return nil }
    defer { freeParsed(options) }
    var values: [String: String] = [:]
    // PQconninfoOption: six pointers, of which the first is the keyword and the fourth the value, and a number.
    let stride = 7 * MemoryLayout<UnsafeRawPointer?>.stride
    var option = UnsafeRawPointer(options)
    while let keyword = option.load(as: UnsafePointer<CChar>?.self) {
      let value = option.load(fromByteOffset: 3 * MemoryLayout<UnsafeRawPointer?>.stride, as: UnsafePointer<CChar>?.self)
      values[String(cString: keyword)] = value.map { String(cString: $0) }
      option += stride
    }
    let hosts = (values["host"] ?? "").split(separator: ",").map(String.init)
    let ports = (values["port"] ?? "5432").split(separator: ",").map(String.init)
    return hosts.enumerated().map { ($1, ports.count == hosts.count ? ports[$0] : ports.first ?? "5432") }
  }
}
