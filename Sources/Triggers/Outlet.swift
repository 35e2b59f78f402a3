/// A way to the outside: a mail server, a webhook, the players' messages.
public protocol Outlet: Sendable {
  /// What functions call it: `context.send(…, to: name)`.
  var name: String { get }

  /// Delivers one message; returns when the other side has taken it, throws if it is to be tried again, and throws
  /// `PermanentFailure` if that would be useless: then the message is a dead letter at once, with that reason.
  ///
  /// - Parameters:
  ///   - key: the message's own, `namespace/event/function/outlet/label`: the same at every attempt. A message may come
  ///     more than once; the receiver recognises a repetition by this.
  ///   - payload: JSON.
  func deliver(key: String, payload: String) async throws
  /// What the store keeps of a payload once it was delivered; all of it, unless it holds what must not lie about.
  func remainder(of payload: String) -> String
}

extension Outlet {
  public func remainder(of payload: String) -> String { payload }
}
