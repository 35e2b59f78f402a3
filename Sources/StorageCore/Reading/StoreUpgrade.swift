internal import TextFormats

/// What is to be done where a store is opened that an older version wrote.
public struct UpgradePolicy: Sendable {
  /// Whether it is brought up to date, and how carefully.
  public enum Mode: Sendable, Hashable {
    /// With a copy beside it, made before.
    case copied
    /// Without a copy: the caller has a backup.
    case uncopied
    /// Not at all: looking must change nothing.
    case refused
  }

  /// See ``Mode``.
  public var mode: Mode
  /// Part of the copy's name, such as `20261124T031500Z`; empty: the name has no time.
  public var moment: String
  /// Told of each thing, before or when it is done.
  public var announce: @Sendable (UpgradeNotice) -> Void

  public init(
    mode: Mode = .copied, moment: String = "", announce: @escaping @Sendable (UpgradeNotice) -> Void = { _ in }
  ) {
    self.mode = mode
    self.moment = moment
    self.announce = announce
  }

  /// A time as a part of a file's name: `20261124T031500Z`.
  ///
  /// - Parameter milliseconds: since 1970.
  public static func moment(_ milliseconds: Int64) -> String {
    CalendarTime(milliseconds: milliseconds).rfc3339.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
  }
}

/// What bringing a store up to date will do.
public struct UpgradePlan: Sendable, Hashable, CustomStringConvertible {
  /// The store's file.
  public let path: String
  /// The version of its schema.
  public let from: Int
  /// The version of the program's.
  public let to: Int
  /// How large the store is, with its log, in bytes.
  public let storeBytes: Int64
  /// Where the copy goes; nil for none.
  public let copy: String?
  /// What must be free on the disk, in bytes.
  public let neededBytes: Int64
  /// What is free, in bytes; nil if the system does not say.
  public let freeBytes: Int64?

  public init(path: String, from: Int, to: Int, storeBytes: Int64, copy: String?, neededBytes: Int64, freeBytes: Int64?) {
    self.path = path
    self.from = from
    self.to = to
    self.storeBytes = storeBytes
    self.copy = copy
    self.neededBytes = neededBytes
    self.freeBytes = freeBytes
  }

  /// Whether the disk has room for it, as far as is known.
  public var fits: Bool { freeBytes.map { $0 >= neededBytes } ?? true }

  /// In a sentence: schemas, sizes, the copy.
  public var description: String {
    let size = "\(path) (\(storeBytes.megabytes)) is of schema \(from), this program's is \(to)."
    let free = freeBytes.map { ", \($0.megabytes) are free" } ?? ""
    let need = "It takes up to \(neededBytes.megabytes) on the disk\(free)."
    guard let copy else { return "\(size) It is brought up to date in one transaction, without a copy. \(need)" }
    return "\(size) It is copied to \(copy) first, then brought up to date in one transaction, and verified. \(need)"
  }
}

/// What is said while a store is brought up to date.
public enum UpgradeNotice: Sendable, Hashable, CustomStringConvertible {
  /// What will be done; nothing has been done yet.
  case planned(UpgradePlan)
  /// The copy is whole, on the disk, and was read again.
  case copied(to: String, bytes: Int64)
  /// Everything was read after the change, which is not committed yet.
  case verified(rows: Int64)
  /// The store is of the new schema, durably.
  case migrated(from: Int, to: Int)

  /// In a sentence.
  public var description: String {
    switch self {
    case .planned(let plan): "Upgrade: \(plan)"
    case .copied(let path, let bytes):
      "Upgrade: copied the store to \(path) (\(bytes.megabytes)), and read it again. Remove it when you are sure."
    case .verified(let rows): "Upgrade: verified \(rows) rows."
    case .migrated(let from, let to): "Upgrade: done, from schema \(from) to \(to)."
    }
  }
}

extension Int64 {
  /// As megabytes, rounded up: `12 MB`.
  fileprivate var megabytes: String { "\((self + 999_999) / 1_000_000) MB" }
}
