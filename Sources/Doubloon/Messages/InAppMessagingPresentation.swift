import TreeModel

/// How a message is to be shown beside what it says: for components that draw it, and for screen readers.
public struct InAppMessagingPresentation: Sendable, Equatable {
  /// The language of its texts, by BCP 47; nil where the server did not say.
  public var language: String?
  /// Whether its texts run from right to left.
  public var isRightToLeft: Bool
  /// What the picture shows, for those who do not see it.
  public var imageDescription: String?
  /// Seconds after which it closes by itself; nil for never. The library closes it, by
  /// ``InAppMessagingDisplay/dismissMessage(_:)``.
  public var dismissAfter: Double?
  /// Whether a tap beside it closes it.
  public var dismissOutside: Bool

  /// A presentation, for previews and tests.
  public init(
    language: String? = nil, isRightToLeft: Bool = false, imageDescription: String? = nil, dismissAfter: Double? = nil,
    dismissOutside: Bool = true
  ) {
    self.language = language
    self.isRightToLeft = isRightToLeft
    self.imageDescription = imageDescription
    self.dismissAfter = dismissAfter
    self.dismissOutside = dismissOutside
  }

  /// - `json`: what a server of ours says beside the message.
  init(_ json: JSON?) {
    self.init(
      language: json?["language"]?.string, isRightToLeft: json?["direction"]?.string == "rtl",
      imageDescription: json?["imageAlt"]?.string, dismissOutside: json?["dismissOutside"]?.bool ?? true)
  }
}
