import ClientRuntime
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#else
  import Security
#endif

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
