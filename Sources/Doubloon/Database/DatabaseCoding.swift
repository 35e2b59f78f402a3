import ClientRuntime
public import Foundation
import TreeModel

extension Database {
  /// Reads types of the app's from snapshots, where they are not to be read as they say themselves.
  ///
  /// ```swift
  /// let decoder = Database.Decoder()
  /// decoder.dateDecodingStrategy = .millisecondsSince1970
  /// let player = try snapshot.data(as: Player.self, decoder: decoder)
  /// ```
  public final class Decoder: Sendable {
    /// How dates are read.
    public enum DateDecodingStrategy: Sendable {
      /// As `Date` reads itself: seconds since 2001.
      case deferredToDate
      /// A number of seconds since 1970.
      case secondsSince1970
      /// A number of milliseconds since 1970, as the server's time is.
      case millisecondsSince1970
      /// A text such as `2026-11-26T18:30:00Z`.
      case iso8601
      /// As the closure reads it.
      case custom(@Sendable (any Swift.Decoder) throws -> Date)
    }

    /// How bytes are read.
    public enum DataDecodingStrategy: Sendable {
      /// As `Data` reads itself: a list of numbers.
      case deferredToData
      /// A text in base 64.
      case base64
    }

    private let members = Locked(
      (
        date: DateDecodingStrategy.deferredToDate, data: DataDecodingStrategy.base64,
        userInfo: [CodingUserInfoKey: any Sendable]()
      ))

    /// A decoder that reads dates as they say themselves, and bytes from texts in base 64.
    public init() {}

    /// How dates are read; as they say themselves unless it is set.
    public var dateDecodingStrategy: DateDecodingStrategy {
      get { members.copy.date }
      set { members.withLock { $0.date = newValue } }
    }
    /// How bytes are read; from texts in base 64 unless it is set.
    public var dataDecodingStrategy: DataDecodingStrategy {
      get { members.copy.data }
      set { members.withLock { $0.data = newValue } }
    }
    /// What types may ask their decoder for.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
      get { members.copy.userInfo }
      set { members.withLock { $0.userInfo = newValue } }
    }

    var options: TreeDecodingOptions {
      let (date, data, userInfo) = members.copy
      return TreeDecodingOptions(userInfo: userInfo) { type, decoder in
        if type == Date.self { return try Self.date(date, from: decoder) }
        if type == Data.self { return try Self.data(data, from: decoder) }
        return nil
      }
    }

    private static func date(_ strategy: DateDecodingStrategy, from decoder: any Swift.Decoder) throws -> Date? {
      switch strategy {
      case .deferredToDate: return nil
      case .custom(let read): return try read(decoder)
      case .secondsSince1970: return Date(timeIntervalSince1970: try decoder.singleValueContainer().decode(Double.self))
      case .millisecondsSince1970:
        return Date(timeIntervalSince1970: try decoder.singleValueContainer().decode(Double.self) / 1000)
      case .iso8601:
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let date = try? Date(text, strategy: .iso8601) else {
          throw DecodingError.dataCorruptedError(
            in: container, debugDescription: "A date like 2026-11-26T18:30:00Z is expected, found \(text.prefix(100)).")
        }
        return date
      }
    }

    private static func data(_ strategy: DataDecodingStrategy, from decoder: any Swift.Decoder) throws -> Data? {
      guard case .base64 = strategy else { return nil }
      let container = try decoder.singleValueContainer()
      guard let data = Data(base64Encoded: try container.decode(String.self)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "A text in base 64 is expected.")
      }
      return data
    }
  }

  /// Writes types of the app's, where they are not to be written as they say themselves.
  public final class Encoder: Sendable {
    /// How dates are written.
    public enum DateEncodingStrategy: Sendable {
      /// As `Date` writes itself: seconds since 2001.
      case deferredToDate
      /// A number of seconds since 1970.
      case secondsSince1970
      /// A whole number of milliseconds since 1970, as the server's time is.
      case millisecondsSince1970
      /// A text such as `2026-11-26T18:30:00Z`.
      case iso8601
      /// As the closure writes it.
      case custom(@Sendable (Date, any Swift.Encoder) throws -> Void)
    }

    /// How bytes are written.
    public enum DataEncodingStrategy: Sendable {
      /// As `Data` writes itself: a list of numbers.
      case deferredToData
      /// A text in base 64.
      case base64
    }

    private let members = Locked(
      (
        date: DateEncodingStrategy.deferredToDate, data: DataEncodingStrategy.base64,
        userInfo: [CodingUserInfoKey: any Sendable]()
      ))

    /// An encoder that writes dates as they say themselves, and bytes as texts in base 64.
    public init() {}

    /// How dates are written; as they say themselves unless it is set.
    public var dateEncodingStrategy: DateEncodingStrategy {
      get { members.copy.date }
      set { members.withLock { $0.date = newValue } }
    }
    /// How bytes are written; as texts in base 64 unless it is set.
    public var dataEncodingStrategy: DataEncodingStrategy {
      get { members.copy.data }
      set { members.withLock { $0.data = newValue } }
    }
    /// What types may ask their encoder for.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
      get { members.copy.userInfo }
      set { members.withLock { $0.userInfo = newValue } }
    }

    var options: TreeEncodingOptions {
      let (date, data, userInfo) = members.copy
      return TreeEncodingOptions(userInfo: userInfo) { value, encoder in
        if let value = value as? Date { return try Self.write(value, by: date, to: encoder) }
        guard let value = value as? Data, case .base64 = data else { return false }
        var container = encoder.singleValueContainer()
        try container.encode(value.base64EncodedString())
        return true
      }
    }

    private static func write(_ date: Date, by strategy: DateEncodingStrategy, to encoder: any Swift.Encoder) throws -> Bool {
      switch strategy {
      case .deferredToDate: return false
      case .custom(let write): try write(date, encoder)
      case .secondsSince1970:
        var container = encoder.singleValueContainer()
        try container.encode(date.timeIntervalSince1970)
      case .millisecondsSince1970:
        var container = encoder.singleValueContainer()
        try container.encode((date.timeIntervalSince1970 * 1000).rounded())
      case .iso8601:
        var container = encoder.singleValueContainer()
        try container.encode(date.formatted(.iso8601))
      }
      return true
    }
  }
}
