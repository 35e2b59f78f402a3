package import StorageCore
import Synchronization
import TreeModel

/// What an open app is told at once.
package enum MessageSignal: Sendable, Hashable {
  /// An event has happened that a message waits for: fetch.
  case trigger(MessageEvent)
  /// Campaigns have changed: fetch.
  case refresh
  /// Another connection of the same instance took its place.
  case replaced
}

/// The apps that listen, one connection for each instance.
package final class MessageHub: CommitObserver {
  fileprivate struct Listener {
    let number: Int
    let uid: String?
    /// What happened before is in the answer to its first fetch.
    let since: Int64
    var told: Set<String> = []
    let tell: @Sendable (MessageSignal) -> Void
  }

  fileprivate struct State {
    var listeners: [String: Listener] = [:]
    var byPlayer: [String: Set<String>] = [:]
    var last = 0
  }

  let waiting: WaitingCampaigns
  private let state = Mutex(State())
  private let wakes: AsyncStream<Set<String>>
  private let wake: AsyncStream<Set<String>>.Continuation

  package init(waiting: WaitingCampaigns) {
    self.waiting = waiting
    (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(10_000))
  }

  /// How many apps listen.
  package var count: Int { state.withLock { $0.listeners.count } }

  /// Lets an instance listen; who listened as this instance before is told so and forgotten.
  ///
  /// - Returns: the number to leave with.
  package func join(
    _ instance: String, uid: String?, at time: Int64, tell: @escaping @Sendable (MessageSignal) -> Void
  ) -> Int {
    let (number, earlier) = state.withLock { state in
      let earlier = state.remove(instance)
      state.last += 1
      state.listeners[instance] = Listener(number: state.last, uid: uid, since: time, tell: tell)
      if let uid { state.byPlayer[uid, default: []].insert(instance) }
      return (state.last, earlier)
    }
    earlier?.tell(.replaced)
    return number
  }

  package func leave(_ instance: String, number: Int) {
    state.withLock { state in
      if state.listeners[instance]?.number == number { _ = state.remove(instance) }
    }
  }

  /// Tells everybody, or one instance, to fetch.
  package func refresh(_ instance: String? = nil) {
    let listeners = state.withLock { state in
      instance.map { state.listeners[$0].map { [$0] } ?? [] } ?? Array(state.listeners.values)
    }
    for listener in listeners { listener.tell(.refresh) }
  }

  /// Ends the connections of an instance that is gone.
  func drop(_ instance: String) {
    state.withLock { $0.remove(instance) }?.tell(.replaced)
  }

  package func didCommit(_ batch: [CommittedRequest]) {
    guard !waiting.isIdle, let revision = batch.map(\.receipt.revision).max() else { return }
    let uids = waiting.takeTouched(through: revision)
    let here = state.withLock { state in uids.filter { state.byPlayer[$0] != nil } }
    if !here.isEmpty { wake.yield(here) }
  }

  /// Tells apps of events, until the task is cancelled.
  ///
  /// - `read`: the pending events of a player.
  func run(_ read: @Sendable (String) -> [MessageEvent]) async {
    for await uids in wakes {
      for uid in uids {
        let events = read(uid)
        let told = state.withLock { state in
          (state.byPlayer[uid] ?? []).flatMap { instance -> [(@Sendable (MessageSignal) -> Void, MessageEvent)] in
            guard var listener = state.listeners[instance] else { return [] }
            let fresh = events.filter { $0.at >= listener.since && !listener.told.contains($0.id) }
            listener.told.formUnion(fresh.map(\.id))
            state.listeners[instance] = listener
            return fresh.map { (listener.tell, $0) }
          }
        }
        for (tell, event) in told { tell(.trigger(event)) }
      }
    }
  }
}

extension MessageHub.State {
  /// Forgets who listens as an instance.
  fileprivate mutating func remove(_ instance: String) -> MessageHub.Listener? {
    guard let listener = listeners.removeValue(forKey: instance) else { return nil }
    if let uid = listener.uid {
      byPlayer[uid]?.remove(instance)
      if byPlayer[uid]?.isEmpty == true { byPlayer[uid] = nil }
    }
    return listener
  }
}
