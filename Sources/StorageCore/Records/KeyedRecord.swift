/// A record that is looked up by its key only: links, claims, invitations, suppressed addresses.
///
/// One table holds them all; what a value says is known to its module only.
public struct KeyedRecord: Sendable, Hashable {
  /// Of which kind: `link`, `invite`. Constant texts of the module's.
  public let kind: String
  /// Unique in its kind and namespace. Listings go by its bytes.
  public let key: String
  /// What is recorded, as JSON.
  public let value: String

  public init(kind: String, key: String, value: String) {
    self.kind = kind
    self.key = key
    self.value = value
  }
}

/// What a request does to a ``KeyedRecord``, and what must be true of it before.
public struct KeyedRecordChange: Sendable, Hashable {
  /// The value that the record must have when the request is judged.
  public enum Expectation: Sendable, Hashable {
    case anything
    /// Nothing: the first to come gets it.
    case absent
    /// Exactly this: a change in between wins.
    case value(String)
  }

  /// Of which kind the record is.
  public let kind: String
  /// Its name among those of its kind.
  public let key: String
  /// The new value; nil removes the record.
  public let value: String?
  /// What must be true before; judged on the writer.
  public let expectation: Expectation

  public init(kind: String, key: String, value: String?, expecting expectation: Expectation = .anything) {
    self.kind = kind
    self.key = key
    self.value = value
    self.expectation = expectation
  }
}

/// What a snapshot knows of keyed records. Listings are bounded, as in ``Snapshot``.
public protocol KeyedRecordReading {
  /// Records of a kind by key, after the one given (nil: from the first) or, descending, before it.
  func records(in namespace: NamespaceID, kind: String, after key: String?, isDescending: Bool, limit: Int)
    throws(StorageError) -> [KeyedRecord]
  /// The counts of a link from a day on, by day, platform and event.
  func linkCounts(in namespace: NamespaceID, of link: String, since day: Int64) throws(StorageError) -> [LinkCount]
}

extension KeyedRecordReading {
  /// Calls `body` with every record of a kind, by key, page by page.
  public func forEachRecord(in namespace: NamespaceID, kind: String, body: (KeyedRecord) -> Void) throws(StorageError) {
    var last: String?
    while true {
      let page = try records(in: namespace, kind: kind, after: last, isDescending: false, limit: 500)
      for record in page { body(record) }
      last = page.last?.key
      if page.count < 500 { return }
    }
  }
}
