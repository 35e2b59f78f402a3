/// What opens a link.
public enum LinkPlatform: String, Sendable, Hashable, CaseIterable {
  case android = "ANDROID"
  case desktop = "DESKTOP"
  case ios = "IOS"
  case other = "OTHER"
}
