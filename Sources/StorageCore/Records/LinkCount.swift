/// How often something happened to a link on one day.
public struct LinkCount: Sendable, Hashable {
  /// The link: prefix and suffix, without `https://`.
  public let link: String
  /// Days since 1970, in UTC.
  public let day: Int64
  /// `ANDROID`, `IOS`, `DESKTOP`, `OTHER`.
  public let platform: String
  /// `CLICK`, `REDIRECT`, `APP_FIRST_OPEN`, …
  public let event: String
  /// How often; when it is put, how much more often.
  public let count: Int64

  public init(link: String, day: Int64, platform: String, event: String, count: Int64) {
    self.link = link
    self.day = day
    self.platform = platform
    self.event = event
    self.count = count
  }
}
