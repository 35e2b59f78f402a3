import RewardModel
import StorageCore
import TreeModel
import Triggers

/// The replayer's reports as administrators read them.
extension ReplayForecast {
  var json: JSON {
    let counts: [(String, JSON?)] = [
      ("order", order.json), ("through", .int(through.rawValue)),
      ("pruned", pruned > .zero ? .int(pruned.rawValue) : nil), ("survey", survey.json), ("tried", .int(Int64(tried))),
      ("outcomes", JSON(counts: outcomes)), ("coins", JSON(counts: coins)),
    ]
    return JSON(fields: counts + (details?.fields ?? []))
  }
}

extension ReplayForecast.Details {
  fileprivate var fields: [(String, JSON?)] {
    [
      ("runs", .array(runs.map(\.json))), ("tree", .array(changes.map(\.forecastJSON))),
      ("entries", .array(transfers.map(\.forecastJSON))), ("compared", .int(Int64(compared))),
      ("divergences", .array(divergences.map(\.json))),
    ]
  }
}

extension ReplayForecast.Run {
  fileprivate var json: JSON {
    JSON(fields: [
      ("event", .string(event.description)), ("function", .string(function)), ("outcome", .string(outcome)),
      ("reason", reason.map(JSON.string)), ("recorded", .string(recorded)),
      ("events", causedEvents == 0 ? nil : .int(Int64(causedEvents))),
    ])
  }
}

extension LeafChange {
  fileprivate var forecastJSON: JSON {
    let pathText = (path.path?.description ?? "?") + (path.isPriority ? "/.priority" : "")
    return ["path": .string(pathText), "before": before?.json ?? .null, "after": after?.json ?? .null]
  }
}

extension LedgerTransfer {
  fileprivate var forecastJSON: JSON {
    JSON(fields: [
      ("debit", .string(debit.name)), ("credit", .string(credit.name)), ("amount", .int(amount)), ("unit", .string(unit)),
      ("code", .string(code)), ("key", .string(key.text)), ("event", event.map(JSON.string)),
      ("function", function.map(JSON.string)),
    ])
  }
}

extension ReplaySurvey {
  fileprivate var json: JSON {
    JSON(fields: [
      ("run", .int(toRun)), ("alreadyDone", .int(alreadyDone)), ("scanned", .int(scanned)),
      ("suppressed", suppressed > 0 ? .int(suppressed) : nil), ("unknownFunction", unknown > 0 ? .int(unknown) : nil),
      (
        "functions",
        .array(
          functions.sorted { $0.key < $1.key }.map { name, counts in
            JSON(fields: [
              ("name", .string(name)), ("run", .int(counts.toRun)), ("alreadyDone", .int(counts.alreadyDone)),
              ("resting", .int(counts.resting)),
              ("handledBy", counts.handledBy.isEmpty ? JSON?.none : JSON(counts: counts.handledBy)),
            ])
          })
      ),
    ])
  }
}

extension Divergence {
  fileprivate var json: JSON {
    [
      "event": .string(event.description), "function": .string(function), "recorded": .string(recorded), "now": .string(now),
    ]
  }
}

extension ReplayComparison {
  var json: JSON {
    ["compared": .int(compared), "divergent": .int(divergent), "divergences": .array(divergences.map(\.json))]
  }
}

extension ReplayRecord {
  /// Number, state, order, progress, times.
  var json: JSON {
    [
      "id": .int(id), "state": .string(state.rawValue), "order": order.json, "progress": progress,
      "createdAt": .int(createdAt), "updatedAt": .int(updatedAt),
    ]
  }
}

extension ReplayedItem {
  var json: JSON {
    JSON(fields: [
      ("event", .string(item.event.description)), ("function", .string(item.function)), ("outcome", .string(outcome)),
      ("reason", reason.map(JSON.string)), ("effect", effect.map { .int($0.rawValue) }),
    ])
  }
}

extension InvocationResult {
  var json: JSON {
    JSON(fields: [
      ("event", .string(event.description)), ("function", .string(function)), ("outcome", .string(outcome.rawValue)),
      ("reason", reason.map(JSON.string)), ("effect", effect.map { .int($0.rawValue) }),
    ])
  }
}

extension JSON {
  /// An object of numbers, by name.
  fileprivate init(counts: [String: Int64]) {
    self = .object(counts.sorted { $0.key < $1.key }.map { Member(key: $0.key, value: .int($0.value)) })
  }
}
