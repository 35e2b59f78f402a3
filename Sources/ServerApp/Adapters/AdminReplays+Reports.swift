import AdminAPI
import AdminModel
import RewardModel
import StorageCore
import TextFormats
import TreeDatabase
import TreeModel
import Triggers

/// The replayer's reports as administrators read them.
extension AdminReplays.Trial {
  init(_ forecast: ReplayForecast) {
    self.init(
      order: AdminReplays.Ordered(forecast.order), through: forecast.through.rawValue,
      pruned: forecast.pruned > .zero ? forecast.pruned.rawValue : nil, survey: AdminReplays.Survey(forecast.survey),
      tried: Int64(forecast.tried), outcomes: NamedValues(counts: forecast.outcomes),
      coins: NamedValues(counts: forecast.coins))
    guard let details = forecast.details else { return }
    runs = details.runs.map { AdminReplays.TrialRun($0) }
    tree = details.changes.map { AdminEvents.Change($0) }
    entries = details.transfers.map { AdminReplays.TrialEntry($0) }
    compared = Int64(details.compared)
    divergences = details.divergences.map { AdminReplays.Divergence($0) }
  }
}

extension AdminReplays.Ordered {
  fileprivate init(_ order: ReplayOrder) {
    self.init(
      mode: AdminReplays.Mode(order.mode), event: order.event?.description, function: order.function,
      since: order.since.map { Timestamp($0) }, until: order.until.map { Timestamp($0) }, uid: order.uid,
      path: order.path, writer: order.writer, error: order.error, allowHandled: order.allowsHandled ? true : nil,
      suppressed: order.takesSuppressed ? true : nil,
      rate: order.rate > 0 ? order.rate : nil, reason: order.reason, actor: order.actor.description)
  }
}

extension AdminReplays.Mode {
  fileprivate init(_ mode: ReplayOrder.Mode) {
    switch mode {
    case .failed: self = .failed
    case .gaps: self = .gaps
    case .all: self = .all
    }
  }
}

extension AdminReplays.Survey {
  fileprivate init(_ survey: ReplaySurvey) {
    self.init(
      run: survey.toRun, alreadyDone: survey.alreadyDone, scanned: survey.scanned,
      suppressed: survey.suppressed > 0 ? survey.suppressed : nil,
      unknownFunction: survey.unknown > 0 ? survey.unknown : nil,
      functions: survey.functions.sorted { $0.key < $1.key }.map { name, counts in
        AdminReplays.FunctionSurvey(
          name: name, run: counts.toRun, alreadyDone: counts.alreadyDone, resting: counts.resting,
          handledBy: counts.handledBy.isEmpty ? nil : NamedValues(counts: counts.handledBy))
      })
  }
}

extension AdminReplays.TrialRun {
  fileprivate init(_ run: ReplayForecast.Run) {
    self.init(
      event: run.event.description, function: run.function, outcome: run.outcome, reason: run.reason, recorded: run.recorded,
      events: run.causedEvents == 0 ? nil : Int64(run.causedEvents))
  }
}

extension AdminReplays.TrialEntry {
  fileprivate init(_ transfer: LedgerTransfer) {
    self.init(
      debit: transfer.debit.name, credit: transfer.credit.name, amount: transfer.amount, unit: transfer.unit,
      code: transfer.code, key: transfer.key.text, event: transfer.event, function: transfer.function)
  }
}

extension AdminReplays.Divergence {
  fileprivate init(_ divergence: Triggers.Divergence) {
    self.init(
      event: divergence.event.description, function: divergence.function, recorded: divergence.recorded, now: divergence.now)
  }
}

extension AdminReplays.Comparison {
  init(_ comparison: ReplayComparison) {
    self.init(
      compared: comparison.compared, divergent: comparison.divergent,
      divergences: comparison.divergences.map { AdminReplays.Divergence($0) })
  }
}

extension AdminReplays.Rebuild {
  /// - `folder`: what keeps the store that was built; nil if nothing does.
  init(_ report: RebuildReport, folder: String?) {
    self.init(
      equal: report.isEqual, through: report.through.rawValue, commits: report.commits, entries: report.entries,
      executions: report.executions, recorded: Hex.encode(report.recorded), rebuilt: Hex.encode(report.rebuilt),
      faultCount: Int64(report.faultCount), faults: report.faults.map(\.message),
      checkpoint: report.checkpoint > .zero ? report.checkpoint.rawValue : nil, folder: folder)
  }
}

extension AdminReplays.Replay {
  init(_ record: ReplayRecord) {
    self.init(
      id: record.id, state: AdminReplays.State(record.state), order: AdminReplays.Ordered(record.order),
      progress: AdminReplays.Progress(of: record), createdAt: Timestamp(record.createdAt),
      updatedAt: Timestamp(record.updatedAt))
  }
}

extension AdminReplays.State {
  fileprivate init(_ state: ReplayRecord.State) {
    switch state {
    case .running: self = .running
    case .paused: self = .paused
    case .done: self = .done
    case .cancelled: self = .cancelled
    case .failed: self = .failed
    }
  }
}

extension AdminReplays.Progress {
  fileprivate init(of record: ReplayRecord) {
    let progress = ReplayProgress(of: record)
    self.init(
      cursor: record.progress["cursor"], through: progress.through.rawValue,
      pruned: progress.pruned > .zero ? progress.pruned.rawValue : nil, scanned: progress.scanned, given: progress.given,
      alreadyDone: progress.alreadyDone, resting: progress.resting, outcomes: NamedValues(counts: progress.outcomes),
      coins: NamedValues(counts: progress.coins), failure: progress.failure)
  }
}

extension AdminReplays.Item {
  init(_ given: ReplayedItem) {
    self.init(
      event: given.item.event.description, function: given.item.function, outcome: given.outcome, reason: given.reason,
      effect: given.effect?.rawValue)
  }

  init(_ result: InvocationResult) {
    self.init(
      event: result.event.description, function: result.function, outcome: result.outcome.rawValue, reason: result.reason,
      effect: result.effect?.rawValue)
  }
}
