import AdminClient
import ArgumentParser

/// A state of the tree, as a command's argument: a revision (`42`), or a time as ``TimePoint`` reads it.
enum TreeMoment: Sendable, Hashable {
  case revision(Int64)
  case time(TimePoint)

  /// For help texts.
  static let forms = "a revision, or a time: \(TimePoint.forms)"

  /// For the parser of the command line. A bare number is a revision.
  init(argument text: String) throws {
    if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
      guard let revision = Int64(text) else { throw ValidationError("there is no revision \(text).") }
      self = .revision(revision)
      return
    }
    guard let time = TimePoint(parsing: text, now: .now) else { throw ValidationError("write \(Self.forms).") }
    self = .time(time)
  }

  /// The parameter of a request; the two forms have different names.
  func parameter(revision: String, time: String) -> QueryItem {
    switch self {
    case .revision(let number): QueryItem(revision, String(number))
    case .time(let point): QueryItem(time, String(point.milliseconds))
    }
  }
}
