import TreeModel

/// What one operation's rules are judged with.
final class RuleScope {
  /// How much work the rules of one operation may be: parts judged, places looked at, and 64 bytes of text each count one.
  static let stepsMax = 10_000_000
  /// The longest text that a rule may make, in bytes of UTF-8: as long as a leaf may be.
  static let textMax = 10 << 20

  let auth: RuleValue
  /// The member that nearly every rule asks for.
  private(set) lazy var uid = auth.member("uid")
  /// The operation's time; who asks is noted.
  var now: Int64 {
    looksAtTime = true
    return time
  }
  let tree: any RuleTree
  let query: RuleQuery
  /// The keys on the way to the rule.
  var keys: [Key] = []
  /// Where the rule stands.
  var place = PathBytes.root
  /// Told of every part that was judged; nil where nobody wants to know.
  var recorder: (any RuleRecording)?
  private var stepsLeft: Int
  private let time: Int64
  private var looksAtTime = false
  /// The earliest moment to come with which `now` was compared.
  private var turnsAt = Int64.max

  init(auth: JSON?, now: Int64, tree: any RuleTree, query: RuleQuery, stepsMax: Int) {
    stepsLeft = stepsMax
    self.auth = auth.map { RuleValue($0) } ?? .null
    time = now
    self.tree = tree
    self.query = query
  }

  /// Until when what was judged stays as it is; nil if nothing looked at the time.
  var holdsUntil: Int64? {
    looksAtTime ? min(turnsAt, time.addingReportingOverflow(RuleVerdict.believedFor).partialValue) : nil
  }

  /// `now` was compared with a number: when that moment has passed, the comparison may say something else.
  func noteTurn(_ moment: Scalar) {
    guard let moment = moment.doubleValue, moment >= Double(time), moment < 9e15 else { return }
    turnsAt = min(turnsAt, Int64(moment) + 1)
  }

  func spend(_ count: Int, _ term: RuleTerm) throws(RuleFailure) {
    stepsLeft -= count
    if stepsLeft < 0 { throw RuleFailure(.tooLong, term) }
  }

  func glance(_ snapshot: RuleSnapshot, _ term: RuleTerm) throws(RuleFailure) -> RuleGlance {
    guard let place = snapshot.place else { return .absent }
    try spend(1, term)
    do throws(RuleTreeFault) {
      return try tree.glance(at: place, snapshot.side)
    } catch {
      throw RuleFailure(.unreadable(error), term)
    }
  }

  func priority(_ snapshot: RuleSnapshot, _ term: RuleTerm) throws(RuleFailure) -> Scalar? {
    guard let place = snapshot.place else { return nil }
    try spend(1, term)
    do throws(RuleTreeFault) {
      return try tree.priority(at: place, snapshot.side)
    } catch {
      throw RuleFailure(.unreadable(error), term)
    }
  }
}
