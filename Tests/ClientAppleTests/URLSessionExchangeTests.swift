import ClientRuntime
import Foundation
import Testing

@testable import ClientApple

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request of the system's network code, whose end may come before anybody waits for it.
struct URLSessionExchangeTests {
  @Test("who asks and was cancelled before hears that, whatever the system says of the task later")
  func cancelledBefore() async throws {
    let exchange = try Self.exchange()
    exchange.end(with: CancellationError())
    await #expect(throws: CancellationError.self) {
      let answer = try await withCheckedThrowingContinuation { waiting in
        exchange.begin(.whole(waiting))
        exchange.ended(URLError(.cancelled), response: nil)
      }
      #expect(answer.status == 0)
    }
  }

  @Test("the first ending counts")
  func first() async throws {
    let exchange = try Self.exchange()
    await #expect(throws: TransportError.self) {
      let answer = try await withCheckedThrowingContinuation { waiting in
        exchange.begin(.whole(waiting))
        exchange.ended(URLError(.networkConnectionLost), response: nil)
        exchange.end(with: CancellationError())
        exchange.ended(nil, response: nil)
      }
      #expect(answer.status == 0)
    }
  }

  private static func exchange() throws -> URLSessionExchange {
    let url = try #require(URL(string: "http://127.0.0.1:1/"))
    let task = URLSession(configuration: .ephemeral).dataTask(with: url)
    let server = ServiceAddress(host: "127.0.0.1", port: 1, isSecure: false)
    return URLSessionExchange(HTTPRequest("GET", "/", at: server), task: task)
  }
}
