/// A short link, ready to be opened: judged once, with what most visitors get worked out.
///
/// A class, so that the cache hands it on for one reference count. Kept small: there may be a hundred thousand.
public final class LinkEntry: Sendable {
  public let record: LinkRecord
  /// Why it is not opened: the settings do not allow what it says any more, or it is switched off.
  public let fault: LinkFault?
  /// Where a desktop goes, and whether that is a fallback.
  public let desktop: (url: String, isFallback: Bool)
  /// Whether an iPad gets something else than a desktop, so that who may be either is asked.
  public let differsOnIPads: Bool

  init(_ record: LinkRecord, settings: LinkSettings) {
    self.record = record
    let parameters = record.parameters ?? LinkParameters()
    do throws(LinkFault) {
      guard let prefix = record.prefix, settings.domains.contains(prefix) else {
        throw .invalid("The prefix of this link is not among the \"domains\" of the link settings any more.")
      }
      _ = try LinkChecker(settings: settings).check(parameters, below: prefix)
      guard record.disabledAt == nil else {
        throw .disabled
      }
      fault = nil
    } catch {
      fault = error
    }
    let opening = LinkOpening(parameters, address: record.address, settings: settings)
    differsOnIPads = opening.differsOnIPads
    if case .redirect(let url, let isFallback) = opening.outcome(for: .desktop, click: "") {
      desktop = (url, isFallback)
    } else {
      desktop = (opening.destination, false)
    }
  }

  /// Whether an administrator has switched it off.
  public var isDisabled: Bool { record.disabledAt != nil }

  /// About how many bytes it takes in memory, its place in the cache included.
  var weight: Int { 400 + record.key.utf8.count + record.canonical.utf8.count + desktop.url.utf8.count }

  /// What happens to a visitor.
  public func opening(settings: LinkSettings) -> LinkOpening {
    LinkOpening(record.parameters ?? LinkParameters(), address: record.address, settings: settings)
  }
}
