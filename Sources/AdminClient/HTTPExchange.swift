import NIOCore
import NIOHTTP1

/// One request on its way, and where its answer goes.
struct HTTPExchange: Sendable {
  /// What is sent, and how much may come back.
  struct Request: Sendable {
    let head: HTTPRequestHead
    let body: [UInt8]?
    let timeout: TimeAmount
    let responseBytesMax: Int
  }

  /// Why an exchange ended without an answer.
  enum Failure: Error, Sendable {
    case timedOut
    case tooLarge(limit: Int)
    case disconnected
  }

  let request: Request
  let promise: EventLoopPromise<AdminResponse>
}
