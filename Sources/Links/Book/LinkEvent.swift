/// What is counted of a link (spec: links-messaging §2, linkStats).
public enum LinkEvent: String, Sendable, Hashable, CaseIterable {
  /// Opened by a person.
  case click = "CLICK"
  /// Sent to a fallback: a store, or what was named for a missing app.
  case redirect = "REDIRECT"
  /// Installed from Google's store by way of the link.
  case install = "APP_INSTALL"
  /// First opened after an installation that the link led to.
  case firstOpen = "APP_FIRST_OPEN"
  /// Opened by the link later.
  case reopen = "APP_RE_OPEN"
}
