import Synchronization
public import TreeModel

/// Where the writer notes why security rules allowed or denied a request, for whoever asked to know.
public final class JudgementNote: Sendable {
  /// What was noted.
  public struct Judgement: Sendable {
    /// Whether the rules allowed it.
    public let isAllowed: Bool
    /// For people, on several lines.
    public let text: String
    /// For programs: every rule that was asked, and what it looked at.
    public let json: JSON

    public init(isAllowed: Bool, text: String, json: JSON) {
      self.isAllowed = isAllowed
      self.text = text
      self.json = json
    }
  }

  /// Whether it is wanted also of what is allowed.
  public let isAlwaysWanted: Bool
  private let noted = Mutex<Judgement?>(nil)

  /// - Parameter isAlwaysWanted: by default only a denial is noted, and what is allowed costs nothing more.
  public init(isAlwaysWanted: Bool = false) {
    self.isAlwaysWanted = isAlwaysWanted
  }

  /// What was noted; nil before the request was judged, where no rules apply to it, and of what was allowed, unless that is
  /// wanted too.
  public var judgement: Judgement? {
    get { noted.withLock { $0 } }
    set { noted.withLock { $0 = newValue } }
  }
}
