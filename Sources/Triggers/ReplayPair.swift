import StorageCore

/// An event and a function that an order is about, with what became of them so far.
struct ReplayPair: Sendable {
  enum Status: Sendable {
    /// No record at all: the function has never had the event.
    case never
    /// A dead letter, or a failure that waits for its retry.
    case failed(DeliveryRecord)
    /// Waits behind another event of its key, or for its function to be resumed: its turn comes by itself.
    case resting(DeliveryRecord)
    /// Handled.
    case finished(ExecutionRecord)
    /// On its way through the dispatcher.
    case underway
  }

  let event: EventRecord
  /// The function's position in the table.
  let function: Int
  let name: String
  let status: Status
  /// Other functions that have handled the event.
  var handledBy: [String] = []
  /// Whether the log's table has the event; if not, it was derived from the commit.
  var isInTable = true

  var item: ReplayItem { ReplayItem(event: event.id, function: name) }

  /// Whether a replay gives it to the function.
  var isToRun: Bool {
    switch status {
    case .never, .failed: true
    case .resting, .finished, .underway: false
    }
  }
}
