package import TreeModel

/// What is wrong, or questionable, about a campaign's document, and where.
package struct CampaignFault: Error, Sendable, Hashable {
  /// For programs: `CARD_WITHOUT_IMAGE`, `UNKNOWN_MEMBER`.
  package let code: String
  /// Where in the document: `content.texts.en.title`, `triggers[0].where`; empty for the whole.
  package let path: String
  /// For people: what is wrong, and what to do.
  package let message: String
  /// Whether the document is kept all the same.
  package let isWarning: Bool

  package init(_ code: String, at path: String, _ message: String, isWarning: Bool = false) {
    self.code = code
    self.path = path
    self.message = message
    self.isWarning = isWarning
  }

  /// `{"code": …, "path": …, "message": …}`.
  package var json: JSON { ["code": .string(code), "path": .string(path), "message": .string(message)] }

  /// Reads what ``json`` wrote, of a warning that was stored.
  init?(warning json: JSON) {
    guard let code = json["code"]?.string, let path = json["path"]?.string, let message = json["message"]?.string else {
      return nil
    }
    self.init(code, at: path, message, isWarning: true)
  }
}

/// Gathers what is wrong with a document while it is read: everything at once.
final class CampaignFaults {
  private(set) var all: [CampaignFault] = []

  /// Faults that are kept of one document.
  private static let countMax = 200

  /// Notes a reason to refuse the document.
  func refuse(_ code: String, at path: String, _ message: String) { add(CampaignFault(code, at: path, message)) }

  /// Notes a doubt.
  func warn(_ code: String, at path: String, _ message: String) {
    add(CampaignFault(code, at: path, message, isWarning: true))
  }

  private func add(_ fault: CampaignFault) {
    if all.count < Self.countMax, !all.contains(fault) { all.append(fault) }
  }

  var refusals: [CampaignFault] { all.filter { !$0.isWarning } }
  var warnings: [CampaignFault] { all.filter(\.isWarning) }
}
