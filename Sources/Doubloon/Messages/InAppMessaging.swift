import ClientRuntime
public import Foundation
import TreeModel

/// Messages of campaigns, shown in the app.
///
/// A campaign says what makes it show: the start of the app, its coming to the foreground, an event of the app's
/// (``triggerEvent(_:parameters:)``, ``Analytics/logEvent(_:parameters:)``), or an event of the server's, such as a reward. What draws
/// the message is the app's ``messageDisplayComponent``; in a terminal that is ``TextDisplay``.
///
/// The app says when the player sees it: ``applicationDidBecomeActive()`` and ``applicationDidEnterBackground()``. Without the
/// player's consent nothing is asked of the server and nothing is shown.
public final class InAppMessaging: Sendable {
  struct State {
    var model: MessageModel
    weak var delegate: (any InAppMessagingDisplayDelegate)?
    weak var component: (any InAppMessagingDisplay)?
    var openURL: (@Sendable (URL) -> Void)?
    /// What is on the screen, as the component got it.
    var shown: (number: Int, message: InAppMessagingDisplayMessage)?
    var timer: (any ClientTimer)?
    var stream: Task<Void, Never>?
    var listener: Int?
  }

  let runtime: AppRuntime
  let auth: Auth
  let wire: MessageWire
  let state: Locked<State>
  /// Calls to the server go one after the other: the log before the next fetch.
  let turns = SerialTasks()
  /// Written by one at a time.
  let file: Locked<SessionFile>

  init(_ runtime: AppRuntime, auth: Auth) {
    self.runtime = runtime
    self.auth = auth
    wire = MessageWire(runtime: runtime)
    let file = SessionFile(folder: runtime.options.storageFolder, name: "messages.json")
    self.file = Locked(file)
    let kept = file.read().flatMap { try? JSONDecoder().decode(MessageRecords.self, from: Data($0)) }
    let model = MessageModel(kept ?? MessageRecords(), configured: runtime.options.copy.automaticDataCollection)
    state = Locked(State(model: model))
  }

  /// The messages of the default app.
  public static func inAppMessaging() -> InAppMessaging { DoubloonApp.current.messages }

  /// The messages of an app.
  public static func inAppMessaging(app: DoubloonApp) -> InAppMessaging { app.messages }

  /// Hears what becomes of messages. Held weakly: keep it in a property.
  public var delegate: (any InAppMessagingDisplayDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  /// Draws messages. Held weakly; without one nothing is shown.
  public var messageDisplayComponent: (any InAppMessagingDisplay)? {
    get { state.withLock { $0.component } }
    set {
      state.withLock { state in
        state.component = newValue
        state.model.hasComponent = newValue != nil
      }
    }
  }

  /// Follows what a message leads to, on the callback queue. Without one the log says where it would have led.
  public var onOpenURL: (@Sendable (URL) -> Void)? {
    get { state.withLock { $0.openURL } }
    set { state.withLock { $0.openURL = newValue } }
  }

  /// Whether no message may be shown now. What is triggered meanwhile is lost, but events of the server's wait; false at every
  /// start of the app.
  public var messageDisplaySuppressed: Bool {
    get { state.withLock { $0.model.isSuppressed } }
    set {
      apply { model, _ in
        model.isSuppressed = newValue
        return []
      }
    }
  }

  /// Whether a screen reader runs: then no message closes by itself.
  public var screenReaderIsRunning: Bool {
    get { state.withLock { $0.model.screenReaderRuns } }
    set {
      apply { model, _ in
        model.screenReaderRuns = newValue
        return []
      }
    }
  }

  /// Whether messages are fetched and shown at all: the player's consent. What is set is kept, and counts for more than the
  /// configuration file's `FirebaseInAppMessagingAutomaticDataCollectionEnabled`.
  ///
  /// Off: nothing is asked or said any more, what waited for the network is dropped, and the server erases this installation.
  /// On again: from the next foreground or event, as a new installation.
  public var automaticDataCollectionEnabled: Bool {
    get { state.withLock { $0.model.isOn } }
    set { apply { model, _ in model.setOn(newValue) } }
  }

  /// Shows the first message that waits for this event, if its parameters fit. Before the first answer of the server it waits
  /// for that, ten seconds at most.
  public func triggerEvent(_ name: String, parameters: [String: MessageValue] = [:]) {
    apply { model, now in model.event(name, parameters: parameters.mapValues(\.json), now: now) }
  }

  /// The player sees the app.
  public func applicationDidBecomeActive() {
    listenToPlayer()
    apply { model, now in model.foreground(now) }
  }

  /// The player sees the app no more: time stands still for the message that is shown, and what waits for the server goes.
  public func applicationDidEnterBackground() { apply { model, now in model.background(now) } }

  /// Asks the server for campaigns now.
  public func refresh() { apply { model, _ in model.refresh() } }

  /// Closes the message that is shown, if there is one.
  public func dismiss() {
    let display = state.withLock { $0.model.showing }
    if let display, display.isVisible { perform(.close(display.display, .unspecified)) }
  }

  /// Writes what is to survive the end of the app.
  func save() {
    // Looked at behind the lock: the last one writes the newest.
    file.withLock { file in
      let records = state.withLock { $0.model.records }
      do {
        try file.write(Array(try JSONEncoder().encode(records)))
      } catch {
        runtime.log(.error, "What is known of messages cannot be kept: \(error.localizedDescription)")
      }
    }
  }

  func shutDown() {
    let (timer, stream, listener) = state.withLock { state in
      defer { (state.timer, state.stream, state.listener) = (nil, nil, nil) }
      return (state.timer, state.stream, state.listener)
    }
    timer?.cancel()
    stream?.cancel()
    if let listener { auth.removeListener(listener) }
  }
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

/// Draws messages. Its functions are called on the callback queue.
public protocol InAppMessagingDisplay: AnyObject {
  /// Shows a message, and tells the delegate what becomes of it: followed, closed, or not to be shown. How long it is seen the
  /// library counts.
  func displayMessage(_ message: InAppMessagingDisplayMessage, displayDelegate: any InAppMessagingDisplayDelegate)
  /// Takes the message off the screen: its time is over, or the player wants no messages. The delegate need not be told.
  func dismissMessage(_ message: InAppMessagingDisplayMessage)
}

extension InAppMessagingDisplay {
  /// Does nothing.
  public func dismissMessage(_ message: InAppMessagingDisplayMessage) {}
}
