import ClientRuntime
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request on its way, and what has come of its answer.
final class URLSessionExchange: TaskListener {
  /// Who waits: for all of it, or for the events in it.
  enum Asked {
    case whole(CheckedContinuation<HTTPResponse, any Error>)
    case events(CheckedContinuation<AsyncThrowingStream<StreamEvent, any Error>, any Error>)
  }

  private struct State {
    var asked: Asked?
    /// What it ended with.
    var ending: Result<HTTPResponse, any Error>?
    var response = HTTPResponse(status: 0, headers: [], body: [])
    var stream: (reader: EventStreamReader, continuation: AsyncThrowingStream<StreamEvent, any Error>.Continuation)?
    var timer: (any ClientTimer)?
  }

  private typealias Waiting = (Asked?, AsyncThrowingStream<StreamEvent, any Error>.Continuation?, (any ClientTimer)?)

  private let request: HTTPRequest
  private let task: URLSessionTask
  private let state = Locked(State())

  init(_ request: HTTPRequest, task: URLSessionTask) {
    self.request = request
    self.task = task
  }

  /// Who waits from now on; before the task is started. It may have ended by then: who asks may be cancelled before.
  func begin(_ asked: Asked) {
    let ending = state.withLock { state in
      if state.ending == nil { state.asked = asked }
      return state.ending
    }
    if let ending { tell(asked, ending) }
  }

  /// The timer is ended with the answer.
  func watch(_ timer: any ClientTimer) {
    let isLate = state.withLock { state in
      state.timer = timer
      return state.ending != nil
    }
    if isLate { timer.cancel() }
  }

  func opened() {}

  func began(_ response: URLResponse) -> Bool {
    guard let response = response as? HTTPURLResponse else {
      end(with: TransportError(.badResponse, "What \(request.server) answered is no HTTP; is that a Doubloon server?"))
      return false
    }
    let headers = response.allHeaderFields.map { (name: "\($0.key)", value: "\($0.value)") }
    let isStream = headers.contains {
      $0.name.lowercased() == "content-type" && $0.value.lowercased().hasPrefix("text/event-stream")
    }
    let (events, continuation) = AsyncThrowingStream<StreamEvent, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(StreamEvent.waitingMax))
    let waiting = state.withLock { state -> CheckedContinuation<AsyncThrowingStream<StreamEvent, any Error>, any Error>? in
      state.response.status = response.statusCode
      state.response.headers = headers
      guard case .events(let waiting)? = state.asked, isStream, response.statusCode == 200 else { return nil }
      continuation.onTermination = { [task] _ in task.cancel() }
      state.asked = nil
      state.stream = (EventStreamReader(), continuation)
      state.timer?.cancel()
      return waiting
    }
    waiting?.resume(returning: events)
    return true
  }

  func received(_ data: Data) {
    let failure = state.withLock { state -> TransportError? in
      if state.stream != nil {
        do {
          for event in try state.stream?.reader.read(data) ?? [] { state.stream?.continuation.yield(event) }
          return nil
        } catch {
          return TransportError(error, server: request.server)
        }
      }
      guard state.response.body.count + data.count <= request.responseBytesMax else {
        let message = "The answer of \(request.server) is larger than \(request.responseBytesMax) bytes."
        return TransportError(.tooLarge, message)
      }
      state.response.body.append(contentsOf: data)
      return nil
    }
    if let failure { end(with: failure) }
  }

  func ended(_ error: (any Error)?, response: URLResponse?) {
    if let error { return end(with: TransportError(error, server: request.server)) }
    let (answer, asked) = state.withLock { state in (state.response, state.asked) }
    guard case .events? = asked else { return finish(.success(answer)) }
    let text = String(decoding: answer.body.prefix(200), as: UTF8.self)
    end(
      with: answer.status == 200
        ? TransportError(.badResponse, "\(request.server) answered with no stream of events.")
        : TransportError(.refused(status: answer.status), "\(request.server) refused the stream: \(text)"))
  }

  /// The first ending counts; the task is ended with it.
  func end(with error: any Error) {
    finish(.failure(error))
    task.cancel()
  }

  private func finish(_ result: Result<HTTPResponse, any Error>) {
    let (asked, stream, timer) = state.withLock { state in
      guard state.ending == nil else { return (nil, nil, nil) as Waiting }
      defer { (state.ending, state.asked, state.stream, state.timer) = (result, nil, nil, nil) }
      return (state.asked, state.stream?.continuation, state.timer)
    }
    timer?.cancel()
    if let asked { return tell(asked, result) }
    switch result {
    case .failure(let error): stream?.finish(throwing: error)
    case .success: stream?.finish()
    }
  }

  private func tell(_ asked: Asked, _ result: Result<HTTPResponse, any Error>) {
    switch (asked, result) {
    case (.whole(let waiting), _): waiting.resume(with: result)
    case (.events(let waiting), .failure(let error)): waiting.resume(throwing: error)
    case (.events(let waiting), .success):
      waiting.resume(throwing: TransportError(.badResponse, "\(request.server) answered with no stream of events."))
    }
  }
}
