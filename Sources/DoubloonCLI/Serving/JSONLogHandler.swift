import Glibc
import Logging
import ServerConfiguration
import StorageCore
import TextFormats
import TreeModel

/// Writes each event of the log as a JSON object on a line of its own, for what collects logs.
///
/// ```json
/// {"time":"2026-01-31T12:00:00.000Z","level":"notice","label":"doubloon","message":"mail sent","metadata":{"kind":"invite"}}
/// ```
///
/// A line is bounded: texts beyond their length are cut, and end in `…`. Values whose name says that they are secrets are left
/// out, should anybody ever log one; that none is logged under another name, `SecretsTests` sees to.
struct JSONLogHandler: LogHandler {
  /// Bytes of a message, and of each value.
  static let messageBytesMax = 8192
  static let valueBytesMax = 4096
  /// Values of a line, those inside of others among them, and how deep they may be.
  static let valuesMax = 64
  static let depthMax = 4
  private static let secretWords = ["password", "secret", "token", "authorization", "cookie"]

  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  private let label: String
  private let clock: any WallClock
  private let write: @Sendable ([UInt8]) -> Void

  /// - `write`: takes a whole line, with its line break.
  init(label: String, level: Logger.Level, clock: any WallClock, write: @escaping @Sendable ([UInt8]) -> Void) {
    self.label = label
    logLevel = level
    self.clock = clock
    self.write = write
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var all = metadataProvider?.get() ?? [:]
    all.merge(metadata) { $1 }
    if let own = event.metadata { all.merge(own) { $1 } }
    var members: [JSON.Member] = [
      .init(key: "time", value: .string(CalendarTime(milliseconds: clock.now()).rfc3339)),
      .init(key: "level", value: .string(event.level.rawValue)), .init(key: "label", value: .string(label)),
      .init(key: "message", value: Self.text(event.message.description, bytesMax: Self.messageBytesMax)),
    ]
    if let error = event.error {
      members.append(.init(key: "error", value: Self.text("\(error)", bytesMax: Self.valueBytesMax)))
    }
    var left = Self.valuesMax
    if !all.isEmpty { members.append(.init(key: "metadata", value: Self.json(all, depth: 1, left: &left))) }
    var writer = JSONWriter()
    writer.write(.object(members))
    write(writer.bytes + [UInt8(ascii: "\n")])
  }

  // MARK: Values

  private static func json(_ metadata: Logger.Metadata, depth: Int, left: inout Int) -> JSON {
    var members: [JSON.Member] = []
    for (name, value) in metadata.sorted(by: { $0.key < $1.key }) {
      guard left > 0 else { break }
      let isSecret = secretWords.contains { name.lowercased().hasSuffix($0) }
      let json: JSON = isSecret ? "(not shown)" : json(value, depth: depth, left: &left)
      members.append(.init(key: String(name.prefix(128)), value: json))
    }
    return .object(members)
  }

  private static func json(_ value: Logger.Metadata.Value, depth: Int, left: inout Int) -> JSON {
    left -= 1
    switch value {
    case .string(let string): return text(string, bytesMax: valueBytesMax)
    case .stringConvertible(let thing): return text(thing.description, bytesMax: valueBytesMax)
    case .dictionary(let inner): return depth < depthMax ? json(inner, depth: depth + 1, left: &left) : "…"
    case .array(let values):
      guard depth < depthMax else { return "…" }
      var list: [JSON] = []
      for value in values where left > 0 { list.append(json(value, depth: depth + 1, left: &left)) }
      return .array(list)
    }
  }

  private static func text(_ text: String, bytesMax: Int) -> JSON {
    guard text.utf8.count > bytesMax else { return .string(text) }
    return .string(String(decoding: text.utf8.prefix(bytesMax), as: UTF8.self) + "…")
  }
}

extension Logger {
  /// The server's log, on the standard error, where systemd and containers expect it.
  static func standardError(_ settings: LogSettings) -> Logger {
    let level = settings.level.loggerLevel
    var logger = Logger(label: "doubloon") { label in
      switch settings.format {
      case .text: StreamLogHandler.standardError(label: label)
      case .json: JSONLogHandler(label: label, level: level, clock: SystemClock(), write: writeToStandardError)
      }
    }
    logger.logLevel = level
    return logger
  }

  /// One call for a line: so lines of several threads do not mix. What the other end does not take is lost, as it is with a
  /// terminal that is gone.
  private static func writeToStandardError(_ line: [UInt8]) {
    line.withUnsafeBytes { bytes in
      var start = 0
      while start < bytes.count {
        let count = Glibc.write(STDERR_FILENO, bytes.baseAddress?.advanced(by: start), bytes.count - start)
        guard count > 0 || (count < 0 && errno == EINTR) else { return }
        start += max(0, count)
      }
    }
  }
}

extension LogSettings.Level {
  fileprivate var loggerLevel: Logger.Level {
    switch self {
    case .debug: .debug
    case .info: .info
    case .notice: .notice
    case .warning: .warning
    case .error: .error
    }
  }
}
