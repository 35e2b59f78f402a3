import Synchronization
public import TreeModel

/// What a function can do: read the tree as of its event, and request effects.
///
/// Requested effects do not happen at once. When the function returns ``Outcome/done``, they are committed as one operation,
/// together with the record that the function handled the event: all or nothing, once. A function that throws, is abandoned or
/// crashes leaves no trace but an attempt.
///
/// A context serves one run. Used after the run (from a task that was detached, say) it throws, and changes nothing.
public final class FunctionContext: Sendable {
  /// The time of the event's commit, in milliseconds since 1970. Use it instead of the clock: a replay sees it again.
  public let now: Int64
  public let event: EventDetails

  private struct State: Sendable {
    var effects = FunctionEffects()
    var isFinished = false
    /// The first effect that could not be asked for; it fails the run even if the function swallowed it.
    var misuse: (any Error)?
  }

  let reader: any FunctionReader
  /// What the function declares of its payments, with the configuration's overrides; nil if it declares nothing.
  let limits: RewardLimits?
  private let state = Mutex(State())

  public init(event: EventDetails, reader: any FunctionReader, limits: RewardLimits? = nil) {
    self.event = event
    self.reader = reader
    self.limits = limits
    now = event.time
  }

  // MARK: Reading

  /// The value at a path as of the event's commit; nil if nothing is there.
  ///
  /// - Throws: ``ValueTypeError`` if what is there is not a `Value`.
  public func get<Value, each P>(_ treePath: TreePath<Value, repeat each P>, _ params: repeat each P) async throws -> Value? {
    let path = try treePath.path(repeat each params)
    return try decode(Value.self, await node(at: path), at: path)
  }

  /// The node at a path as of the event's commit.
  public func node(at path: Path) async throws -> TreeNode {
    try checkUse()
    return try reader.nodeAtEvent(path)
  }

  /// Whether anything was at a path at an earlier moment: how long something has been there, when players write it again and
  /// again.
  ///
  /// - `time`: in milliseconds since 1970. For a moment before what the log still holds, the log's beginning counts.
  public func exists(at path: Path, asOf time: Int64) async throws -> Bool {
    try checkUse()
    return try reader.exists(path, at: time)
  }

  /// Whether a user has an account on this server: as of now, since accounts are not part of the tree and its history.
  public func hasAccount(_ user: UserID) async throws -> Bool {
    try checkUse()
    return try reader.hasAccount(user.text)
  }

  /// Whether anything is at a path as of the event's commit: cheap, however much it is.
  public func exists(at path: Path) async throws -> Bool {
    try checkUse()
    return try reader.existsAtEvent(path)
  }

  // MARK: Coins

  /// Pays coins into a balance. Credits add up: a thousand at once never conflict.
  ///
  /// - `amount`: above zero, in minor units.
  /// - `code`: why, in one word; the coins come from the account `issuance:CODE`.
  /// - `once`: a business key that is paid only once, ever. If it was paid before, the run changes nothing and is recorded
  ///   as skipped, `already_paid`, with the first entry. Without one, this event and function pay once.
  /// - `ifPaid`: whether a key that was paid before skips the run, or leaves only this payment out; that wants a key.
  /// - `subject`: whom the payment is about, where that is not the one who is paid.
  /// - `note`: a remark for the statement.
  /// - `terms`: whom the payment is about, when the coins wait in a hold instead, and who is not paid again; nil pays at once,
  ///   which a function that declares limits may not.
  public func credit<each P>(
    _ balance: TreePath<Int64, repeat each P>, _ params: repeat each P, amount: Int64, code: String, once key: String? = nil,
    ifPaid: IfPaid = .skipRun, subject: String? = nil, note: String? = nil, terms: RewardTerms? = nil
  ) async throws {
    let path: Path
    do { path = try balance.path(repeat each params) } catch { throw noted(error) }
    try checkUse()
    guard terms != nil || limits == nil else {
      throw noted(
        FunctionContextError(
          "The function declares limits, and its payment \"\(code)\" does not say whom it is about: add terms: RewardTerms(about: player)."
        ))
    }
    let hold: FunctionEffects.Hold?
    do {
      hold = try terms.flatMap { try self.hold(under: $0, code: code) }
    } catch let skipped as RunSkipped {
      throw skipped
    } catch { throw noted(error) }
    let rewarded = terms.flatMap { $0.paysReturning ? nil : $0.player.text }
    try post(
      .credit, at: path, amount: amount, code: code, key: key, ifPaid: ifPaid, subject: subject, note: note, hold: hold,
      rewarded: rewarded)
  }

  /// Takes coins from a balance; they go to the account `redemption:CODE`. If the balance does not suffice when the run is
  /// committed, the run is skipped as `insufficient_funds`.
  public func debit<each P>(
    _ balance: TreePath<Int64, repeat each P>, _ params: repeat each P, amount: Int64, code: String, once key: String? = nil,
    subject: String? = nil, note: String? = nil
  ) async throws {
    let path: Path
    do { path = try balance.path(repeat each params) } catch { throw noted(error) }
    try post(.debit, at: path, amount: amount, code: code, key: key, ifPaid: .skipRun, subject: subject, note: note)
  }

  // MARK: Writing

  /// Replaces what is at a path.
  public func set<Value, each P>(_ treePath: TreePath<Value, repeat each P>, _ params: repeat each P, to value: Value)
    async throws
  {
    let operation: WriteOperation
    do {
      operation = .set(try treePath.path(repeat each params), try TreeNodeEncoder.encode(value))
    } catch { throw noted(error) }
    try append(operation)
  }

  /// Adds to a number, or begins it.
  public func increment<each P>(_ treePath: TreePath<Int64, repeat each P>, _ params: repeat each P, by delta: Int64)
    async throws
  {
    let path: Path
    do { path = try treePath.path(repeat each params) } catch { throw noted(error) }
    try append(.set(path, .increment(delta)))
  }

  /// Removes what is at a path.
  public func remove<Value, each P>(_ treePath: TreePath<Value, repeat each P>, _ params: repeat each P) async throws {
    let path: Path
    do { path = try treePath.path(repeat each params) } catch { throw noted(error) }
    try append(.remove(path))
  }

  /// Writes anything that a client could write.
  public func write(_ operation: WriteOperation) async throws {
    try append(operation)
  }

  /// Changes a value based on the latest one, with the effects that this run has requested so far.
  ///
  /// `update` must be pure. If another request changes the value before the run is committed, the whole run is repeated on
  /// the new value, at most 25 times.
  public func transaction<Value, each P>(
    _ treePath: TreePath<Value, repeat each P>, _ params: repeat each P, update: (Value?) throws -> Value?
  ) async throws {
    try checkUse()
    let path: Path
    let stored: TreeNode
    do {
      path = try treePath.path(repeat each params)
      stored = try reader.latestNode(path)
    } catch { throw noted(error) }
    let current = state.withLock { $0.effects.node(at: path, over: stored, now: now) }
    let changed = try update(decode(Value.self, current, at: path))
    let node: TreeNode
    do { node = try changed.map { try TreeNodeEncoder.encode($0) } ?? .absent } catch { throw noted(error) }
    try mutate { effects in
      effects.assumptions.append(FunctionEffects.Assumption(path: path, node: stored, operation: effects.operations.count))
      effects.operations.append(.set(path, node))
    }
  }

  // MARK: Outside

  /// Sends something to the outside after the run is committed: at least once, with a key of its own.
  ///
  /// - `outlet`: which registered outlet delivers it.
  /// - `label`: tells this message from others of the same run.
  public func send(_ payload: some Encodable, to outlet: String, label: String = "message") async throws {
    let node: TreeNode
    do { node = try TreeNodeEncoder.encode(payload) } catch { throw noted(error) }
    try mutate { effects in
      if effects.messages.contains(where: { $0.outlet == outlet && $0.label == label }) {
        throw FunctionContextError("Two messages to \(outlet) have the label \(label); give each its own.")
      }
      effects.messages.append(FunctionEffects.Message(outlet: outlet, payload: node, label: label))
    }
  }

  // MARK: The engine's side

  /// Ends the run: every later use of the context throws.
  ///
  /// - Returns: the effects that were asked for.
  /// - Throws: the first misuse of the run, also if the function swallowed it.
  public func finish() throws -> FunctionEffects {
    try state.withLock { state in
      state.isFinished = true
      if let misuse = state.misuse { throw misuse }
      return state.effects
    }
  }

  /// Ends the run from outside, at its deadline.
  public func abandon() {
    state.withLock { $0.isFinished = true }
  }

  private func post(
    _ direction: FunctionEffects.Posting.Direction, at path: Path, amount: Int64, code: String, key: String?,
    ifPaid: IfPaid, subject: String?, note: String?, hold: FunctionEffects.Hold? = nil, rewarded: String? = nil
  ) throws {
    try mutate { effects in
      guard amount > 0 else { throw FunctionContextError("An amount is above zero; \(amount) is not.") }
      guard !code.isEmpty, !code.contains("/") else { throw FunctionContextError("A code is one word without a slash.") }
      guard ifPaid == .skipRun || key != nil else {
        throw FunctionContextError("A payment that is left out if it was paid before needs a key: once.")
      }
      let repeated = effects.postings.contains { $0.key == key && (key != nil || ($0.code == code && $0.path == path)) }
      guard !repeated else {
        throw FunctionContextError("\(path) is paid twice under one key; give each payment a code or key of its own.")
      }
      effects.postings.append(
        FunctionEffects.Posting(
          direction: direction, path: path, amount: amount, code: code, key: key, ifPaid: ifPaid, subject: subject, note: note,
          hold: hold, rewarded: rewarded))
    }
  }

  private func append(_ operation: WriteOperation) throws {
    try mutate { $0.operations.append(operation) }
  }

  @discardableResult
  func mutate<Value: Sendable>(_ body: (inout FunctionEffects) throws -> Value) throws -> Value {
    try state.withLock { state in
      guard !state.isFinished else { throw Self.used(event) }
      try reader.checkRun()
      do {
        return try body(&state.effects)
      } catch {
        if state.misuse == nil { state.misuse = error }
        throw error
      }
    }
  }

  /// Remembers the first error of an effect, which fails the run: a function that swallows it would lose a payment silently.
  private func noted(_ error: any Error) -> any Error {
    state.withLock { if $0.misuse == nil { $0.misuse = error } }
    return error
  }

  private func checkUse() throws {
    if state.withLock({ $0.isFinished }) { throw Self.used(event) }
    try reader.checkRun()
  }

  private static func used(_ event: EventDetails) -> FunctionContextError {
    FunctionContextError(
      "The run for \(event.id) is over: its context cannot be used any more. Await all work in the function.")
  }

  private func decode<Value: Decodable>(_ type: Value.Type, _ node: TreeNode, at path: Path) throws -> Value? {
    guard node.exists else { return nil }
    do {
      return try TreeNodeDecoder.decode(Value.self, from: node)
    } catch {
      throw ValueTypeError(path, error)
    }
  }
}

/// Misuse of a ``FunctionContext``. Fails the run even if the function swallows it.
public struct FunctionContextError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was wrong, and what to do instead: a sentence for the function's author.
  public let message: String

  init(_ message: String) {
    self.message = message
  }

  public var description: String { message }
}
