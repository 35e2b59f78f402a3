import ClientRuntime
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A WebSocket of the system's. What it tells, it tells on a queue of its own, one thing after the other.
final class URLSessionSocket: SocketConnection, TaskListener {
  private struct State {
    var task: URLSessionWebSocketTask?
    var timer: (any ClientTimer)?
    var isOpen = false
    var isOver = false
    /// Bytes of texts that nobody has dealt with.
    var unread = 0
    var isPaused = false
  }

  private let server: ServiceAddress
  private let unreadMax: Int
  private let receive: @Sendable (SocketEvent) -> Void
  private let queue = DispatchQueue(label: "doubloon.socket")
  private let state = Locked(State())

  init(server: ServiceAddress, unreadMax: Int, receive: @escaping @Sendable (SocketEvent) -> Void) {
    self.server = server
    self.unreadMax = unreadMax
    self.receive = receive
  }

  /// Starts the task; the timer ends with the first sign of life.
  func begin(_ task: URLSessionWebSocketTask, timer: any ClientTimer) {
    state.withLock { state in (state.task, state.timer) = (task, timer) }
    task.resume()
  }

  func send(_ text: [UInt8]) {
    guard let task = state.withLock({ $0.isOpen && !$0.isOver ? $0.task : nil }) else { return }
    task.send(.string(String(decoding: text, as: UTF8.self))) { [weak self] error in
      guard let self, let error else { return }
      end(TransportError(error, server: server))
    }
  }

  func close() { end(nil) }

  func took(_ bytes: Int) {
    let task = state.withLock { [unreadMax] state -> URLSessionWebSocketTask? in
      state.unread -= bytes
      guard state.isPaused, state.unread <= unreadMax / 2 else { return nil }
      state.isPaused = false
      return state.isOver ? nil : state.task
    }
    if let task { listen(task) }
  }

  func opened() {
    let task = state.withLock { state -> URLSessionWebSocketTask? in
      guard !state.isOpen, !state.isOver else { return nil }
      state.isOpen = true
      state.timer?.cancel()
      return state.task
    }
    guard let task else { return }
    queue.async { [receive] in receive(.opened) }
    listen(task)
  }

  func began(_ response: URLResponse) -> Bool { true }
  func received(_ data: Data) {}

  func ended(_ error: (any Error)?, response: URLResponse?) {
    if let status = (response as? HTTPURLResponse)?.statusCode, status != 101 {
      let message = "\(server) opens no socket here (status \(status)); is that a Doubloon server?"
      return end(TransportError(.refused(status: status), message))
    }
    end(error.map { TransportError($0, server: server) })
  }

  /// Waits for the next text.
  private func listen(_ task: URLSessionWebSocketTask) {
    task.receive { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let message):
        let text: [UInt8]
        switch message {
        case .string(let string): text = Array(string.utf8)
        case .data(let data): text = Array(data)
        @unknown default: text = []
        }
        let (isOver, isPaused) = state.withLock { [unreadMax] state in
          state.unread += text.count
          state.isPaused = state.unread > unreadMax
          return (state.isOver, state.isPaused)
        }
        if isOver { return }
        queue.async { [receive] in receive(.text(text)) }
        if !isPaused { listen(task) }
      case .failure(let error):
        // An orderly end is told of by the delegate.
        if task.closeCode == .invalid { end(TransportError(error, server: server)) } else { end(nil) }
      }
    }
  }

  /// The first ending counts.
  func end(_ error: TransportError?) {
    let (isFirst, task, timer) = state.withLock { state in
      defer { state.isOver = true }
      return (!state.isOver, state.task, state.timer)
    }
    guard isFirst else { return }
    timer?.cancel()
    if error == nil { task?.cancel(with: .normalClosure, reason: nil) } else { task?.cancel() }
    queue.async { [receive] in receive(.closed(error)) }
  }
}
