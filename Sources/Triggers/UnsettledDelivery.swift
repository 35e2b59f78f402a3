public import StorageCore

/// An event that some function has not finished.
public struct UnsettledDelivery: Sendable, Hashable, CustomStringConvertible {
  /// How far the delivery is.
  public enum State: String, Sendable, Hashable {
    /// Behind another of its lane, or waiting for a runner.
    case queued
    case running
    /// Waits for a retry.
    case waiting
    case paused
    case dead
  }

  /// Whose event it is.
  public let namespace: NamespaceID
  /// Which event.
  public let event: EventID
  /// Which function has not finished it.
  public let function: String
  /// How far it is.
  public let state: State
  /// The last failure; nil if there was none.
  public let lastError: String?

  init(_ record: DeliveryRecord, in namespace: NamespaceID) {
    self.namespace = namespace
    event = record.event
    function = record.function
    state =
      switch record.state {
      case .waiting: .waiting
      case .paused: .paused
      case .dead: .dead
      }
    lastError = record.lastError
  }

  init(_ delivery: Delivery, _ state: State, function: String) {
    namespace = delivery.namespace
    event = delivery.event
    self.function = function
    self.state = state
    lastError = nil
  }

  public var description: String {
    "\(function) for \(event) is \(state.rawValue)\(lastError.map { ": \($0)" } ?? "")"
  }
}
