package import ClientRuntime
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#else
  import Security
#endif

/// HTTP and WebSockets by the system's own network code: with its proxies, its certificates, and nothing more to link.
///
/// For Apple's systems. On Linux it is compiled and tested, HTTP as a whole, and linked into no app.
package final class URLSessionTransport: HTTPTransport, SocketTransport {
  /// Bytes that one text of a socket may have.
  package static let textBytesMax = 64 << 20

  private let delegate: TaskDelegate
  private let session: URLSession
  private let clock = SystemClock()
  private let unreadMax: Int

  /// - `authorities`: certificates in PEM form that are trusted instead of those of the system, for a server with its own. On
  ///   Linux they are not looked at: the system's are.
  /// - `unreadMax`: bytes of a socket's texts that may wait to be dealt with.
  package init(authorities: [[UInt8]] = [], unreadMax: Int = SocketEvent.unreadMax) {
    self.unreadMax = unreadMax
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    // Requests have times of their own, and sockets live for days.
    configuration.timeoutIntervalForRequest = 1e6
    configuration.timeoutIntervalForResource = 1e8
    #if canImport(Darwin)
      configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
    #endif
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    delegate = TaskDelegate(authorities: authorities.map { PEM.certificates(in: $0) })
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
  }

  deinit { session.finishTasksAndInvalidate() }

  package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    try await exchange(request, asked: { .whole($0) })
  }

  package func events(_ request: HTTPRequest) async throws -> AsyncThrowingStream<StreamEvent, any Error> {
    try await exchange(request, asked: { .events($0) })
  }

  private func exchange<Value: Sendable>(
    _ request: HTTPRequest, asked: (CheckedContinuation<Value, any Error>) -> URLSessionExchange.Asked
  ) async throws -> Value {
    let task = session.dataTask(with: try Self.urlRequest(request))
    let exchange = URLSessionExchange(request, task: task)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        exchange.begin(asked(continuation))
        delegate.add(exchange, for: task)
        exchange.watch(
          clock.schedule(after: request.timeout) {
            let message = "\(request.server) did not answer within \(request.timeout / 1000) seconds."
            exchange.end(with: TransportError(.timedOut, message))
          })
        if Task.isCancelled { exchange.end(with: CancellationError()) } else { task.resume() }
      }
    } onCancel: {
      exchange.end(with: CancellationError())
    }
  }

  package func open(
    _ server: ServiceAddress, target: String, timeout: Int64, receive: @escaping @Sendable (SocketEvent) -> Void
  ) -> any SocketConnection {
    let socket = URLSessionSocket(server: server, unreadMax: unreadMax, receive: receive)
    guard let url = URL(string: "\(server.isSecure ? "wss" : "ws")://\(server.authority)\(target)") else {
      socket.end(TransportError(.badAddress, "\(server)\(target) is no address of a socket."))
      return socket
    }
    let task = session.webSocketTask(with: url)
    task.maximumMessageSize = Self.textBytesMax
    delegate.add(socket, for: task)
    let timer = clock.schedule(after: timeout) {
      socket.end(TransportError(.timedOut, "\(server) opened no socket within \(timeout / 1000) seconds."))
    }
    socket.begin(task, timer: timer)
    return socket
  }

  private static func urlRequest(_ request: HTTPRequest) throws -> URLRequest {
    try request.checkHead()
    guard let url = URL(string: "\(request.server)\(request.target)") else {
      throw TransportError(.badAddress, "\(request.server)\(request.target.prefix(200)) is no address.")
    }
    var made = URLRequest(url: url)
    made.httpMethod = request.method
    made.setValue("*/*", forHTTPHeaderField: "Accept")
    if let body = request.body {
      made.httpBody = Data(body)
      made.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    for (name, value) in request.headers { made.setValue(value, forHTTPHeaderField: name) }
    return made
  }
}

/// Certificates as text: base 64 between two lines (RFC 7468).
enum PEM {
  /// The certificates in a text, as DER; nothing if it holds none.
  static func certificates(in bytes: [UInt8]) -> [Data] {
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    var found: [Data] = []
    var text: String?
    for line in lines {
      if line.hasPrefix("-----BEGIN CERTIFICATE-----") {
        text = ""
      } else if line.hasPrefix("-----END CERTIFICATE-----") {
        if let data = text.flatMap({ Data(base64Encoded: $0) }), !data.isEmpty { found.append(data) }
        text = nil
      } else {
        text?.append(contentsOf: line)
      }
    }
    return found
  }
}

extension TransportError {
  /// What the system failed with, as a sentence.
  init(_ error: any Error, server: ServiceAddress) {
    if let error = error as? TransportError {
      self = error
      return
    }
    switch (error as? URLError)?.code {
    case .badURL?, .unsupportedURL?: self.init(.badAddress, "\(server) is no address that this system can speak to.")
    case .cannotConnectToHost?, .cannotFindHost?, .dnsLookupFailed?, .notConnectedToInternet?, .dataNotAllowed?,
      .internationalRoamingOff?:
      self.init(.unreachable, "No server answers at \(server). Is the address right, and is this device online?")
    case .timedOut?: self.init(.timedOut, "\(server) did not answer in time.")
    // The last is what Foundation on Linux calls a connection that was closed without an answer.
    case .networkConnectionLost?, .badServerResponse?:
      self.init(.disconnected, "The connection to \(server) broke before the answer was complete.")
    // Cancelled by nobody here: the certificate was looked at, and does not count.
    case .secureConnectionFailed?, .serverCertificateHasBadDate?, .serverCertificateUntrusted?,
      .serverCertificateHasUnknownRoot?, .serverCertificateNotYetValid?, .clientCertificateRejected?,
      .clientCertificateRequired?, .cancelled?:
      self.init(
        .untrusted,
        "\(server) could not prove who it is, or speaks no TLS; is it http, not https? Nothing was sent.")
    // On Linux nothing more is said of TLS.
    case .unknown? where server.isSecure:
      self.init(.untrusted, "\(server) could not prove who it is, or speaks no TLS; is it http, not https?")
    default: self.init(.badResponse, "What \(server) answered is no HTTP; is that a Doubloon server?")
    }
  }
}

/// Who waits for a task of the session.
protocol TaskListener: AnyObject, Sendable {
  /// The head of the answer. False: nothing of what follows is wanted.
  func began(_ response: URLResponse) -> Bool
  /// A part of the body.
  func received(_ data: Data)
  /// Nothing follows. Nil: it ended in order.
  func ended(_ error: (any Error)?, response: URLResponse?)
  /// A socket is open.
  func opened()
}

/// Hands on what happens to the tasks of a session, each to who waits for it.
final class TaskDelegate: NSObject, Sendable {
  private let listeners = Locked<[Int: any TaskListener]>([:])
  /// The certificates of each text that the app gave, as DER; empty: the system's own count.
  private let authorities: [[Data]]

  init(authorities: [[Data]]) { self.authorities = authorities }

  func add(_ listener: any TaskListener, for task: URLSessionTask) {
    listeners.withLock { $0[task.taskIdentifier] = listener }
  }

  private func listener(of task: URLSessionTask) -> (any TaskListener)? { listeners.withLock { $0[task.taskIdentifier] } }
}

extension TaskDelegate: URLSessionDataDelegate {
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    completionHandler(listener(of: dataTask)?.began(response) == true ? .allow : .cancel)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    listener(of: dataTask)?.received(data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    listeners.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended(error, response: task.response)
  }

  /// An answer is an answer, whatever its status: nothing is followed.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  #if canImport(Darwin)
    /// A server with an authority of its own is trusted by that one alone.
    func urlSession(
      _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      guard !authorities.isEmpty, challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
        let trust = challenge.protectionSpace.serverTrust
      else { return completionHandler(.performDefaultHandling, nil) }
      let anchors = authorities.joined().compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
      SecTrustSetAnchorCertificates(trust, anchors as CFArray)
      SecTrustSetAnchorCertificatesOnly(trust, true)
      guard !anchors.isEmpty, SecTrustEvaluateWithError(trust, nil) else {
        return completionHandler(.cancelAuthenticationChallenge, nil)
      }
      completionHandler(.useCredential, URLCredential(trust: trust))
    }
  #endif
}

extension TaskDelegate: URLSessionWebSocketDelegate {
  func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
  ) {
    listener(of: webSocketTask)?.opened()
  }

  func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
    reason: Data?
  ) {
    listeners.withLock { $0.removeValue(forKey: webSocketTask.taskIdentifier) }?.ended(nil, response: nil)
  }
}
