import ClientRuntime
import Foundation

/// Messages of campaigns, shown in the app.
///
/// The types and the delegate are there, so that an app can be written against them; this version of the library fetches no
/// campaigns yet, and shows nothing.
public final class InAppMessaging: Sendable {
  private struct State {
    weak var delegate: (any InAppMessagingDisplayDelegate)?
    weak var component: (any InAppMessagingDisplay)?
    var isSuppressed = false
    var isEnabled: Bool
  }

  /// What an app decided, as it is kept on disk.
  private struct Consent: Codable {
    var automaticDataCollectionEnabled: Bool
  }

  private let runtime: AppRuntime
  private let state: Locked<State>

  init(_ runtime: AppRuntime) {
    self.runtime = runtime
    let kept = FileManager.default.contents(atPath: Self.path(runtime))
      .flatMap { try? JSONDecoder().decode(Consent.self, from: $0) }
    let isEnabled = kept?.automaticDataCollectionEnabled ?? runtime.options.copy.automaticDataCollection ?? true
    state = Locked(State(isEnabled: isEnabled))
  }

  /// The messages of the default app.
  public static func inAppMessaging() -> InAppMessaging { DoubloonApp.current.messages }

  /// Hears what becomes of messages. Held weakly: keep it in a property.
  public var delegate: (any InAppMessagingDisplayDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  /// Draws messages. Held weakly; without one nothing is shown.
  public var messageDisplayComponent: (any InAppMessagingDisplay)? {
    get { state.withLock { $0.component } }
    set { state.withLock { $0.component = newValue } }
  }

  /// Whether no message may be shown now. What is triggered meanwhile is lost; false at every start of the app.
  public var messageDisplaySuppressed: Bool {
    get { state.withLock { $0.isSuppressed } }
    set { state.withLock { $0.isSuppressed = newValue } }
  }

  /// Whether messages are fetched and shown at all: the player's consent. What is set is kept, and counts for more than the
  /// configuration file's `FirebaseInAppMessagingAutomaticDataCollectionEnabled`.
  public var automaticDataCollectionEnabled: Bool {
    get { state.withLock { $0.isEnabled } }
    set {
      state.withLock { $0.isEnabled = newValue }
      do {
        let file = SessionFile(folder: runtime.options.storageFolder, name: Self.fileName)
        try file.write(Array(try JSONEncoder().encode(Consent(automaticDataCollectionEnabled: newValue))))
      } catch {
        runtime.log(.error, "The consent to messages cannot be kept: \(error.localizedDescription)")
      }
    }
  }

  /// Shows the first message that waits for this event.
  public func triggerEvent(_ name: String) {
    let state = state.withLock { (suppressed: $0.isSuppressed, enabled: $0.isEnabled) }
    guard state.enabled, !state.suppressed else {
      return runtime.log(.debug, "The event \(name) triggers nothing: messages are \(state.enabled ? "suppressed" : "off").")
    }
    runtime.log(.debug, "The event \(name) triggers nothing: no message waits for it.")
  }

  private static let fileName = "messages.json"
  private static func path(_ runtime: AppRuntime) -> String { runtime.options.storageFolder + "/" + fileName }
}

/// Hears what becomes of messages. Every function may be left out.
public protocol InAppMessagingDisplayDelegate: AnyObject {
  /// The player followed a message.
  func messageClicked(_ inAppMessage: InAppMessagingDisplayMessage)
  /// The player followed a message, by this of its actions.
  func messageClicked(_ inAppMessage: InAppMessagingDisplayMessage, with action: InAppMessagingAction)
  /// The message was closed.
  func messageDismissed(_ inAppMessage: InAppMessagingDisplayMessage, dismissType: InAppMessagingDismissType)
  /// The message was seen for long enough.
  func impressionDetected(for inAppMessage: InAppMessagingDisplayMessage)
  /// The message could not be shown.
  func displayError(for inAppMessage: InAppMessagingDisplayMessage, error: any Error)
}

extension InAppMessagingDisplayDelegate {
  /// Does nothing.
  public func messageClicked(_ inAppMessage: InAppMessagingDisplayMessage) {}
  /// Calls ``messageClicked(_:)``.
  public func messageClicked(_ inAppMessage: InAppMessagingDisplayMessage, with action: InAppMessagingAction) {
    messageClicked(inAppMessage)
  }
  /// Does nothing.
  public func messageDismissed(_ inAppMessage: InAppMessagingDisplayMessage, dismissType: InAppMessagingDismissType) {}
  /// Does nothing.
  public func impressionDetected(for inAppMessage: InAppMessagingDisplayMessage) {}
  /// Does nothing.
  public func displayError(for inAppMessage: InAppMessagingDisplayMessage, error: any Error) {}
}

/// Draws messages.
public protocol InAppMessagingDisplay: AnyObject {
  /// Shows a message, and tells the delegate what becomes of it.
  func displayMessage(_ message: InAppMessagingDisplayMessage, displayDelegate: any InAppMessagingDisplayDelegate)
}
