import TreeModel

/// What one operation's rules are evaluated with.
final class RuleScope {
  /// How much work the rules of one operation may be: parts evaluated, places looked at, and 64 bytes of text each count one.
  static let stepsMax = 10_000_000
  /// The longest text that a rule may make, in bytes of UTF-8: as long as a leaf may be.
  static let textMax = 10 << 20

  let auth: RuleValue
  /// The member that nearly every rule asks for.
  private(set) lazy var uid = auth.member("uid")
  /// The operation's time; that it was read is noted.
  var now: Int64 {
    looksAtTime = true
    return time
  }
  let tree: any RuleTree
  let query: RuleQuery
  /// The keys on the way to the rule.
  var keys: [Key] = []
  /// Where the rule is.
  var pathBytes = PathBytes.root
  /// Gets every part that was evaluated; nil where that is not wanted.
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

  /// Until when what was evaluated stays as it is; nil if nothing looked at the time.
  var holdsUntil: Int64? {
    looksAtTime ? min(turnsAt, time.addingReportingOverflow(RuleVerdict.believedFor).partialValue) : nil
  }

  /// `now` was compared with a number: when that moment has passed, the comparison may say something else.
  func noteTurn(_ moment: Scalar) {
    guard let moment = moment.doubleValue, moment >= Double(time), moment < 9e15 else { return }
    turnsAt = min(turnsAt, Int64(moment) + 1)
  }

  func spend(_ count: Int, term: RuleTerm) throws(EvaluationError) {
    stepsLeft -= count
    if stepsLeft < 0 { throw EvaluationError(.tooLong, term) }
  }

  func read(_ snapshot: RuleSnapshot, for term: RuleTerm) throws(EvaluationError) -> RuleRead {
    guard let pathBytes = snapshot.pathBytes else { return .absent }
    try spend(1, term: term)
    do throws(RuleTreeError) {
      return try tree.read(at: pathBytes, side: snapshot.side)
    } catch {
      throw EvaluationError(.unreadable(error), term)
    }
  }

  func priority(_ snapshot: RuleSnapshot, term: RuleTerm) throws(EvaluationError) -> Scalar? {
    guard let pathBytes = snapshot.pathBytes else { return nil }
    try spend(1, term: term)
    do throws(RuleTreeError) {
      return try tree.priority(at: pathBytes, side: snapshot.side)
    } catch {
      throw EvaluationError(.unreadable(error), term)
    }
  }
}

/// Who watches an evaluation: explanations and coverage.
protocol RuleObserver: AnyObject {
  /// A rule is about to be evaluated; what is returned gets its parts.
  func begin(_ rule: RuleExpression) -> (any RuleRecording)?
  /// A rule was evaluated.
  func end(_ rule: RuleExpression, of node: RuleNode, at pathBytes: PathBytes, result: Result<Bool, EvaluationError>)
}

/// Who wants to know what every part of a rule was: explanations and coverage.
protocol RuleRecording: AnyObject {
  func note(_ term: RuleTerm, _ value: RuleValue)
  func note(_ term: RuleTerm, failed: EvaluationError)
}

/// What the parts of one rule were when it was evaluated.
final class TermValues: RuleRecording {
  private var values: [ObjectIdentifier: RuleValue] = [:]

  func clear() { values.removeAll(keepingCapacity: true) }

  func note(_ term: RuleTerm, _ value: RuleValue) { values[ObjectIdentifier(term)] = value }

  func note(_ term: RuleTerm, failed: EvaluationError) {}

  subscript(_ term: RuleTerm) -> RuleValue? { values[ObjectIdentifier(term)] }
}

/// Watches an evaluation for the sake of an explanation.
final class RuleTrace: RuleObserver {
  /// Of how many rules an explanation speaks: the last ones decide, so the first are kept back if there are more.
  private static let stepsMax = 200

  private(set) var steps: [RuleExplanation.Step] = []
  private let memory = TermValues()

  func begin(_ rule: RuleExpression) -> (any RuleRecording)? {
    memory.clear()
    return memory
  }

  func end(_ rule: RuleExpression, of node: RuleNode, at pathBytes: PathBytes, result: Result<Bool, EvaluationError>) {
    var isTrue = false
    var findings: [RuleExplanation.Finding] = []
    switch result {
    case .success(true): isTrue = true
    case .success(false): findings = RuleFindings(rule: rule, memory: memory).reasons(of: rule.term)
    case .failure(let failure): findings = [RuleFindings(rule: rule, memory: memory).reason(of: failure)]
    }
    if steps.count >= Self.stepsMax { steps.removeFirst() }
    steps.append(
      RuleExplanation.Step(
        kind: rule.kind, pattern: node.pattern.description, path: pathBytes.path ?? .root, line: rule.line, column: rule.column,
        text: rule.text, isTrue: isTrue, findings: findings))
  }
}
