import FunctionsKit
import StorageCore
import TreeModel

/// An event on its way to one function.
struct Delivery: Sendable {
  let facts: EventFacts
  /// The function's position in the table.
  let function: Int
  /// What the function's pattern captures; nil if it does not match any more.
  let captures: [String]?
  /// Whom it waits for; nil for a function without order.
  let lane: LaneKey?
  /// The revision of the client's write at the beginning of the chain of causes, as far as it is known.
  let root: Revision
  var attempts = 0
  var crashes = 0
  /// Whether there is a delivery record, which the end of the work removes.
  var isStored = false
  /// Whether a person, or a replay, has it run again.
  var isAgain = false
  /// Whether it is known that the function has handled the event.
  var isHandled = false
  /// Whether the event holds back the settled revision.
  var isUnsettled = false
  /// How often the run was repeated because a value that it had read was stale.
  var reruns = 0
  /// Whether its last run had payments that are left out if they were made before.
  var leavesOutPaid = false
  /// How often the writer's queue was full.
  var postponements = 0
  /// The slot of the crash note, while there is one.
  var noteSlot: Int?

  init(_ facts: EventFacts, to function: Int, of definition: FunctionDefinition, root: Revision) {
    self.facts = facts
    self.function = function
    self.root = root
    let captures = definition.pattern.match(facts.path)?.map(\.value)
    self.captures = captures
    guard definition.options.order == .perKey else {
      lane = nil
      return
    }
    let capture = captures?.first ?? ""
    lane = LaneKey(function: function, namespace: facts.namespace, capture: Key(unchecked: capture))
  }

  /// The same delivery in another lane.
  init(_ other: Delivery, lane: LaneKey?) {
    facts = other.facts
    function = other.function
    captures = other.captures
    root = other.root
    attempts = other.attempts
    crashes = other.crashes
    isStored = other.isStored
    isAgain = other.isAgain
    isHandled = other.isHandled
    isUnsettled = other.isUnsettled
    noteSlot = other.noteSlot
    self.lane = lane
  }

  /// Whether it comes later than the event: newer data may stand where it would write (see ``LateWrites``).
  var isLate: Bool { isStored || isAgain }
  var event: EventID { facts.record.id }
  var namespace: NamespaceID { facts.namespace }

  /// The delivery as storage keeps it.
  func record(
    _ state: DeliveryRecord.State, function: String, nextAttemptAt: Int64 = 0, lastError: String, at now: Int64
  ) -> DeliveryRecord {
    DeliveryRecord(
      event: event, kind: facts.record.kind, hop: facts.record.hop, function: function, state: state, attempts: attempts,
      crashes: crashes, nextAttemptAt: nextAttemptAt, lastError: lastError, updatedAt: now)
  }
}
