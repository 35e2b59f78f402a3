package import NIOCore
import TreeDatabase

/// An event loop as the lane of the sinks whose connections it serves.
package struct EventLoopLane: DeliveryLane {
  private let eventLoop: any EventLoop

  package init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  package var identity: ObjectIdentifier { ObjectIdentifier(eventLoop) }

  package func execute(_ work: @escaping @Sendable () -> Void) { eventLoop.execute(work) }
}
