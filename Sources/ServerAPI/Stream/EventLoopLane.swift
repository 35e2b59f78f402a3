public import NIOCore
public import TreeDatabase

/// An event loop as the lane of the sinks whose connections it serves.
public struct EventLoopLane: DeliveryLane {
  private let eventLoop: any EventLoop

  public init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  public var identity: ObjectIdentifier { ObjectIdentifier(eventLoop) }

  public func execute(_ work: @escaping @Sendable () -> Void) { eventLoop.execute(work) }
}
