import StorageCore
import Synchronization
import TreeModel

/// What an app reports of a message.
package struct MessageReport: Sendable, Hashable {
  /// What happened.
  package enum Kind: Sendable, Hashable {
    case impression
    /// With the button, or `message`.
    case click(String)
    case dismissal(String)
    case failure(String)
    case suppressed, control
    case testImpression, testClick
  }

  package let kind: Kind
  package let campaign: String
  package let instance: String
  /// By the app's clock, in milliseconds since 1970.
  package let time: Int64
  /// The event that was told; nil where the app does not know it.
  package var event: String?
  package var variant: String?
  /// Makes a repetition of the report harmless; nil for apps that have none: what it says stands for it.
  package var key: String?

  package init(_ kind: Kind, campaign: String, instance: String, time: Int64) {
    self.kind = kind
    self.campaign = campaign
    self.instance = instance
    self.time = time
  }

  /// What is counted, and the detail.
  var count: (MessageCount, String) {
    switch kind {
    case .impression: (.impression, "")
    case .click(let role): (.click, role)
    case .dismissal(let way): (.dismissal, way)
    case .failure(let reason): (.error, reason)
    case .suppressed: (.suppressed, "")
    case .control: (.control, "")
    case .testImpression: (.testImpression, "")
    case .testClick: (.testClick, "")
    }
  }

  var digest: String { MessageService.hash("\(instance)\n\(campaign)\n\(key ?? "\(count)\n\(time)\n\(event ?? "")")") }
}

/// Counts reports on the writer: each once.
final class ReportDecision: WriterDecision {
  private let reports: [(MessageReport, Campaign, event: MessageEvent?)]
  private let now: Int64
  private let done = Mutex<[MessageCount]>([])

  init(reports: [(MessageReport, Campaign, event: MessageEvent?)], now: Int64) {
    self.reports = reports
    self.now = now
  }

  /// What was counted.
  var counted: [MessageCount] { done.withLock { $0 } }

  func decide(in namespace: NamespaceID, at time: Int64, session: any CommitSession) throws(CommitError)
    -> [WriteOperation.Assignment]
  {
    do throws(StorageError) {
      var counted: [MessageCount] = []
      let marks = MessageMarks(session: session, namespace: namespace, time: time)
      for (report, campaign, event) in reports where try admit(report, in: namespace, session: session) {
        try take(report, campaign, event: event, marks: marks)
        counted.append(report.count.0)
      }
      done.withLock { $0 = counted }
    } catch {
      throw CommitError(error)
    }
    return []
  }

  /// Whether a report is new, and within what its instance may report.
  private func admit(_ report: MessageReport, in namespace: NamespaceID, session: any CommitSession) throws(StorageError)
    -> Bool
  {
    let digest = report.digest
    guard try session.record(in: namespace, kind: MessageService.Kind.log, key: digest) == nil,
      let stored = try session.record(in: namespace, kind: MessageInstance.kind, key: report.instance),
      var instance = MessageInstance(stored: stored)
    else { return false }
    let day = now / 86_400_000
    if instance.day != day { (instance.day, instance.logged) = (day, 0) }
    guard instance.logged < MessageService.reportsPerDay else { return false }
    instance.logged += 1
    session.put(
      KeyedRecordChange(kind: MessageInstance.kind, key: instance.id, value: instance.stored), in: namespace)
    let end = String(now + MessageService.reportMemory)
    session.put(KeyedRecordChange(kind: MessageService.Kind.log, key: digest, value: end), in: namespace)
    return true
  }

  private func take(_ report: MessageReport, _ campaign: Campaign, event: MessageEvent?, marks: MessageMarks)
    throws(StorageError)
  {
    let id = campaign.id
    var mark = try marks.mark(report.instance, campaign: id)
    let variant = report.variant ?? mark.variant ?? campaign.document.variant(for: report.instance, id)
    let known = campaign.document.variants.contains { $0.name == variant } ? variant : nil
    // A clock that is wrong must not move a display out of its window.
    let moment = min(max(report.time, now - MessageService.reportMemory), now)
    switch report.kind {
    case .impression, .control:
      if mark.displays == 0, report.kind == .impression {
        try marks.count(MessageCountKey(campaign: id, time: now, variant: known, kind: .instance))
      }
      mark.show(at: moment, variant: known, event: event?.id)
      marks.put(mark, of: report.instance, id)
      if let event { try show(event, campaign: id, marks) }
    case .click:
      mark.clickedAt = now
      marks.put(mark, of: report.instance, id)
    default: break
    }
    let (kind, detail) = report.count
    try marks.count(MessageCountKey(campaign: id, time: now, variant: known, kind: kind, detail: detail))
  }

  private func show(_ event: MessageEvent, campaign: String, _ marks: MessageMarks) throws(StorageError) {
    guard let stored = try marks.session.record(in: marks.namespace, kind: MessageEvent.kind, key: event.key),
      var current = MessageEvent(stored: stored), current.shownAt == nil
    else { return }
    (current.shownAt, current.campaign) = (now, campaign)
    marks.session.put(KeyedRecordChange(kind: MessageEvent.kind, key: event.key, value: nil), in: marks.namespace)
    marks.session.put(
      KeyedRecordChange(kind: MessageEvent.toldKind, key: event.key, value: current.json.compactText), in: marks.namespace)
  }
}
