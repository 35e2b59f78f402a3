import ClientRuntime
import Foundation
import TreeModel

/// Does what ``MessageModel`` decides.
extension InAppMessaging {
  private var now: MessageModel.Now {
    MessageModel.Now(
      wall: runtime.clock.milliseconds + state.withLock { $0.model.records.clockOffset }, uptime: runtime.clock.uptime)
  }

  /// Tells the model what happened, and does what it says.
  func apply(_ change: (inout MessageModel, MessageModel.Now) -> [MessageModel.Effect]) {
    let now = now
    let effects = state.withLock { change(&$0.model, now) }
    for effect in effects { perform(effect) }
    follow()
  }

  func perform(_ effect: MessageModel.Effect) {
    switch effect {
    case .save: save()
    case .say(let line): runtime.log(.debug, line)
    case .fetch: Task { await self.fetch() }
    case .upload: Task { await self.upload() }
    case .load(let display):
      Task {
        let pictures = await MessagePictures.load(display.campaign.content, by: runtime)
        self.loaded(display, with: pictures)
      }
    case .show(let display): show(display)
    case .close(let display, let type): close(display, as: type)
    case .detected(let display):
      tell(display.number) { delegate, message in
        delegate?.impressionDetected(for: message)
      } then: { model, now in
        model.count(display.number, now: now)
      }
    case .failed(let display, let error):
      let message = shownMessage(display) ?? InAppMessagingDisplayMessage.make(display, pictures: MessagePictures())
      runtime.callbacks.call {
        self.delegate?.displayError(for: message, error: error)
        self.apply { model, now in model.failed(display.number, with: error, now: now) }
      }
    case .open(let url): open(url)
    case .erase(let installation): Task { await self.wire.erase(installation) }
    }
  }

  /// One timer, for what is due next; and the stream, while it is wanted.
  private func follow() {
    let now = now
    // In one step: of two threads the later one must see what the earlier one did.
    let (timer, stream) = state.withLock { state in
      let old = state.timer
      state.timer = state.model.wakes(after: now).map { wait in
        runtime.clock.schedule(after: wait) { [weak self] in self?.apply { model, now in model.tick(now) } }
      }
      guard !state.model.wantsStream else {
        if state.stream == nil { state.stream = Task { [weak self] in await self?.listen() } }
        return (old, Task<Void, Never>?.none)
      }
      defer { state.stream = nil }
      return (old, state.stream)
    }
    timer?.cancel()
    stream?.cancel()
  }

  // MARK: The screen

  private func loaded(_ display: MessageModel.Display, with result: Result<MessagePictures, InAppMessagingDisplayRenderError>) {
    switch result {
    case .success(let pictures):
      let message = InAppMessagingDisplayMessage.make(display, pictures: pictures)
      state.withLock { $0.shown = (display.number, message) }
      apply { model, now in model.loaded(display.number, failure: nil, now: now) }
    case .failure(let error):
      apply { model, now in model.loaded(display.number, failure: error, now: now) }
    }
  }

  private func show(_ display: MessageModel.Display) {
    let message = shownMessage(display) ?? InAppMessagingDisplayMessage.make(display, pictures: MessagePictures())
    state.withLock { $0.shown = (display.number, message) }
    runtime.callbacks.call {
      guard self.state.withLock({ $0.model.isShowing(display.number) }) else { return }
      guard let component = self.messageDisplayComponent else {
        return self.apply { model, _ in model.gone(display.number) }
      }
      component.displayMessage(message, displayDelegate: MessageRelay(messages: self, number: display.number))
    }
  }

  private func close(_ display: MessageModel.Display, as type: InAppMessagingDismissType) {
    guard let message = shownMessage(display) else { return }
    runtime.callbacks.call { self.messageDisplayComponent?.dismissMessage(message) }
    dismissed(display.number, as: type)
  }

  private func shownMessage(_ display: MessageModel.Display) -> InAppMessagingDisplayMessage? {
    state.withLock { $0.shown.flatMap { $0.number == display.number ? $0.message : nil } }
  }

  private func open(_ url: URL) {
    guard let handler = onOpenURL else {
      return runtime.log(.notice, "A message leads to \(url.absoluteString.prefix(200)); set onOpenURL to follow it.")
    }
    runtime.callbacks.call { handler(url) }
  }

  /// Tells the app of something that happened to the message of the number, and only then counts it: the app hears first.
  private func tell(
    _ number: Int, by call: @escaping @Sendable ((any InAppMessagingDisplayDelegate)?, InAppMessagingDisplayMessage) -> Void,
    then change: @escaping @Sendable (inout MessageModel, MessageModel.Now) -> [MessageModel.Effect]
  ) {
    runtime.callbacks.call {
      let message = self.state.withLock { state in
        state.model.isShowing(number) && state.shown?.number == number ? state.shown?.message : nil
      }
      guard let message else { return }
      call(self.delegate, message)
      self.apply(change)
    }
  }

  func clicked(_ number: Int, by action: InAppMessagingAction) {
    tell(number) { delegate, message in
      delegate?.messageClicked(message, with: action)
    } then: { model, now in
      model.clicked(number, by: action, now: now)
    }
  }

  func dismissed(_ number: Int, as type: InAppMessagingDismissType) {
    tell(number) { delegate, message in
      delegate?.messageDismissed(message, dismissType: type)
    } then: { model, now in
      model.dismissed(number, as: type, now: now)
    }
  }

  func detected(_ number: Int) {
    guard state.withLock({ $0.model.takesImpression(number) }) else { return }
    tell(number) { delegate, message in
      delegate?.impressionDetected(for: message)
    } then: { model, now in
      model.count(number, now: now)
    }
  }

  func failed(_ number: Int, with error: any Error) {
    tell(number) { delegate, message in
      delegate?.displayError(for: message, error: error)
    } then: { model, now in
      model.failed(number, with: error as? InAppMessagingDisplayRenderError ?? .unspecifiedError, now: now)
    }
  }
}

/// What a component tells of one message. What it says after the message is gone nobody hears.
private final class MessageRelay: InAppMessagingDisplayDelegate, Sendable {
  let messages: InAppMessaging
  let number: Int

  init(messages: InAppMessaging, number: Int) {
    self.messages = messages
    self.number = number
  }

  func messageClicked(_ inAppMessage: InAppMessagingDisplayMessage) { messages.clicked(number, by: inAppMessage.firstAction) }
  func messageClicked(_ inAppMessage: InAppMessagingDisplayMessage, with action: InAppMessagingAction) {
    messages.clicked(number, by: action)
  }
  func messageDismissed(_ inAppMessage: InAppMessagingDisplayMessage, dismissType: InAppMessagingDismissType) {
    messages.dismissed(number, as: dismissType)
  }
  func impressionDetected(for inAppMessage: InAppMessagingDisplayMessage) { messages.detected(number) }
  func displayError(for inAppMessage: InAppMessagingDisplayMessage, error: any Error) { messages.failed(number, with: error) }
}
