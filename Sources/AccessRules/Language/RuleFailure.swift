/// Why a rule could not be judged to its end. The whole rule is false then (spec: rtdb-protocol §4.2).
struct RuleFailure: Error {
  enum Reason {
    /// A part was not what its place needs: the message says which.
    case type(String)
    /// See ``RuleScope/stepsMax``.
    case tooLong
    /// The tree could not be looked at: nothing is judged at all.
    case unreadable(RuleTreeFault)
  }

  let reason: Reason
  /// The part at which it came up.
  let term: RuleTerm?

  init(_ reason: Reason, _ term: RuleTerm?) {
    self.reason = reason
    self.term = term
  }

  /// What was wrong, as a sentence.
  var message: String {
    switch reason {
    case .type(let message): message
    case .tooLong: "Judging took too long; make the rules or the write smaller."
    case .unreadable(let fault): fault.message
    }
  }
}
