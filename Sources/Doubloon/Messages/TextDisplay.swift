import ClientRuntime
import Foundation

/// Shows messages as lines of text: for terminals, for logs, for tests.
///
/// ```swift
/// let display = TextDisplay { line in print(line) }
/// InAppMessaging.inAppMessaging().messageDisplayComponent = display
/// ```
/// It is held weakly: keep it in a property. What the player types comes back by ``follow(_:)`` and ``close()``.
public final class TextDisplay: InAppMessagingDisplay, Sendable {
  private let write: @Sendable (String) -> Void
  private let shown = Locked<Boxed<(message: InAppMessagingDisplayMessage, delegate: any InAppMessagingDisplayDelegate)>?>(nil)

  /// - `write`: takes one line after the other, without the line's end.
  public init(write: @escaping @Sendable (String) -> Void) { self.write = write }

  /// What is shown; nil if nothing is.
  public var message: InAppMessagingDisplayMessage? { shown.copy?.value.message }

  /// Writes the message.
  public func displayMessage(
    _ message: InAppMessagingDisplayMessage, displayDelegate: any InAppMessagingDisplayDelegate
  ) {
    shown.withLock { $0 = Boxed((message, displayDelegate)) }
    for line in Self.lines(of: message) { write(line) }
  }

  /// Forgets the message.
  public func dismissMessage(_ message: InAppMessagingDisplayMessage) {
    shown.withLock { if $0?.value.message === message { $0 = nil } }
  }

  /// The player follows an action of the message, by its place in ``InAppMessagingDisplayMessage/actions``.
  ///
  /// - Returns: whether there is such an action.
  @discardableResult
  public func follow(_ index: Int = 0) -> Bool {
    let found = shown.withLock { shown in
      guard let value = shown, value.value.message.actions.indices.contains(index) else { return Self.nothing }
      defer { shown = nil }
      return shown
    }
    guard let (message, delegate) = found?.value else { return false }
    delegate.messageClicked(message, with: message.actions[index])
    return true
  }

  /// The player closes the message.
  public func close() {
    let found = shown.withLock { shown in
      defer { shown = nil }
      return shown
    }
    if let (message, delegate) = found?.value { delegate.messageDismissed(message, dismissType: .typeUserTapClose) }
  }

  private static let nothing: Boxed<(message: InAppMessagingDisplayMessage, delegate: any InAppMessagingDisplayDelegate)>? = nil

  /// The message in the order in which it is read: title, text, picture, actions.
  static func lines(of message: InAppMessagingDisplayMessage) -> [String] {
    let (title, body) = message.words
    var lines = title.map { ["Message: \(plain($0))"] } ?? []
    lines += (body ?? "").split(separator: "\n").map { "  \(plain(String($0)))" }
    if let picture = message.presentation.imageDescription {
      lines.append("\(title == nil ? "Message" : "  Picture"): \(plain(picture))")
    }
    for (index, action) in message.actions.enumerated() {
      let text = action.actionText ?? action.actionURL?.absoluteString ?? ""
      lines.append("  \(index + 1). \(plain(text))")
    }
    return lines
  }

  /// Without what would move a terminal's cursor, change its colours or turn the direction of what follows.
  private static func plain(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.filter { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator: false
          default: true
          }
        }))
  }
}
