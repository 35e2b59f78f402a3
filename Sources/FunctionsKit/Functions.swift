public import TreeModel

/// The list of a deployment's functions, filled at start-up.
///
/// ```swift
/// public func referralRewards(_ functions: Functions) {
///   functions.onUpdate(Users.level, name: "rewardReferrals", when: .rising(to: 5)) { event, context in
///     …
///     return .done
///   }
/// }
/// ```
/// A mistake in a registration (a name that is taken, a setting that does not exist) is one of the programmer or of the
/// configuration: it stops the program at start-up, with a sentence.
public final class Functions {
  /// What was registered so far, in that order.
  public private(set) var definitions: [FunctionDefinition] = []
  /// The currencies that were declared beside them.
  public private(set) var currencies: [CurrencyDeclaration] = []
  /// Where the tree says who referred a player, if that was declared.
  public private(set) var referrerPath: PathPattern?
  /// What is wrong with the settings, where that does not stop the program.
  public private(set) var settingErrors: [SettingError] = []
  /// What is wrong with the registrations themselves, where that does not stop the program; they are left out.
  public private(set) var mistakes: [String] = []
  /// What decides before a player's account is made; nil where nothing does.
  public internal(set) var creationDecision: SignInDecision?
  /// What decides before a session begins; nil where nothing does.
  public internal(set) var signInDecision: SignInDecision?
  private let overrides: TreeNode
  private let stops: Bool

  /// - Parameter settings: overrides by function and setting: `{"rewardReferrals":{"amount":60}}`.
  public init(settings: TreeNode = .absent) {
    overrides = settings
    stops = true
  }

  /// A list for inspection: wrong settings are collected in ``settingErrors``, with the defaults kept instead; wrong
  /// registrations are collected in ``mistakes``, and left out.
  public init(checking settings: TreeNode) {
    overrides = settings
    stops = false
  }

  func declare(_ unit: String, at path: Result<TriggerPath, TreePathError>, holder: String) {
    switch path {
    case .failure(let error): mistake("The currency \(unit): \(error)")
    case .success(let path):
      currencies.append(CurrencyDeclaration(unit: unit, pattern: path.pattern, holder: holder))
    }
  }

  /// Records a programmer's mistake, or stops the program.
  func mistake(_ sentence: String) {
    guard !stops else { Misuse.stop(sentence) }
    mistakes.append(sentence)
  }

  func declare(referrerPath path: PathPattern) { referrerPath = path }

  /// Runs when something appears at a path where nothing was.
  public func onCreate<Value, each P>(
    _ treePath: TreePath<Value, repeat each P>, name: String, options: FunctionOptions = FunctionOptions(),
    _ body: @escaping @Sendable (Created<Value, repeat each P>, FunctionContext) async throws -> Outcome
  ) {
    onCreate(treePath, name: name, settings: NoSettings(), options: options) { event, context, _ in
      try await body(event, context)
    }
  }

  /// Runs when something appears at a path where nothing was; with settings.
  public func onCreate<Value, Settings: FunctionSettings, each P>(
    _ treePath: TreePath<Value, repeat each P>, name: String, settings: Settings, options: FunctionOptions = FunctionOptions(),
    _ body: @escaping @Sendable (Created<Value, repeat each P>, FunctionContext, Settings) async throws -> Outcome
  ) {
    register(treePath.triggerPath, trigger: .onCreate, name: name, filter: .any, defaults: settings, options: options) {
      run, context, settings in
      try await body(Created(run), context, settings)
    }
  }

  /// Runs when something changes into something else.
  public func onUpdate<Value, each P>(
    _ treePath: TreePath<Value, repeat each P>, name: String, when filter: ChangeFilter = .any,
    options: FunctionOptions = FunctionOptions(),
    _ body: @escaping @Sendable (Updated<Value, repeat each P>, FunctionContext) async throws -> Outcome
  ) {
    onUpdate(treePath, name: name, when: filter, settings: NoSettings(), options: options) { event, context, _ in
      try await body(event, context)
    }
  }

  /// Runs when something changes into something else; with settings.
  public func onUpdate<Value, Settings: FunctionSettings, each P>(
    _ treePath: TreePath<Value, repeat each P>, name: String, when filter: ChangeFilter = .any, settings: Settings,
    options: FunctionOptions = FunctionOptions(),
    _ body: @escaping @Sendable (Updated<Value, repeat each P>, FunctionContext, Settings) async throws -> Outcome
  ) {
    register(treePath.triggerPath, trigger: .onUpdate, name: name, filter: filter, defaults: settings, options: options) {
      run, context, settings in
      try await body(Updated(run), context, settings)
    }
  }

  /// Runs when a value is removed.
  public func onDelete<Value, each P>(
    _ treePath: TreePath<Value, repeat each P>, name: String, options: FunctionOptions = FunctionOptions(),
    _ body: @escaping @Sendable (Deleted<Value, repeat each P>, FunctionContext) async throws -> Outcome
  ) {
    register(treePath.triggerPath, trigger: .onDelete, name: name, filter: .any, defaults: NoSettings(), options: options) {
      run, context, _ in
      try await body(Deleted(run), context)
    }
  }

  /// Runs on every change: creation, update and deletion.
  public func onWrite<Value, each P>(
    _ treePath: TreePath<Value, repeat each P>, name: String, when filter: ChangeFilter = .any,
    options: FunctionOptions = FunctionOptions(),
    _ body: @escaping @Sendable (Written<Value, repeat each P>, FunctionContext) async throws -> Outcome
  ) {
    register(treePath.triggerPath, trigger: .onWrite, name: name, filter: filter, defaults: NoSettings(), options: options) {
      run, context, _ in
      try await body(Written(run), context)
    }
  }

  /// The settings of a function with the configuration's overrides, where a registration depends on them.
  public func settings<Settings: FunctionSettings>(_ defaults: Settings, of name: String) -> Settings {
    do {
      var node = try TreeNodeEncoder.encode(defaults)
      for override in overrides[Key(unchecked: name)].children {
        node = .map(node.children.setting(override.key, to: override.node))
      }
      return try TreeNodeDecoder.decode(Settings.self, from: node)
    } catch {
      fail(name, setting: nil, message: "The settings of \(name) cannot be read: \(error)")
      return defaults
    }
  }

  /// The limits of a function with the configuration's overrides, for another one that pays the same reward.
  public func limits(_ defaults: RewardLimits, of name: String) -> RewardLimits { settings(defaults, of: name) }

  func register<Settings: FunctionSettings>(
    _ path: Result<TriggerPath, TreePathError>, trigger: FunctionDefinition.Trigger, name: String, filter: ChangeFilter,
    defaults: Settings, options: FunctionOptions,
    body: @escaping @Sendable (FunctionDefinition.Run, FunctionContext, Settings) async throws -> Outcome
  ) {
    let taken = Set(definitions.flatMap { [$0.name] + $0.options.formerly })
    for candidate in [name] + options.formerly {
      guard !taken.contains(candidate) else {
        return mistake("Two functions are, or were, called \(candidate); a name belongs to one.")
      }
      guard (try? Key(candidate)) != nil else {
        return mistake("\"\(candidate)\" cannot be a function's name: it must be a legal key.")
      }
    }
    let found: TriggerPath
    do throws(TreePathError) {
      found = try path.get()
    } catch {
      return mistake("\(name): \(error)")
    }
    var options = options
    options.inline = inlineMode(options.inline, of: name)
    let (node, declared) = settingsNode(defaults, limits: options.limits, of: name)
    let settings = settings(defaults, of: name)
    let limits = options.limits.map { self.limits($0, of: name) }
    if let limit = limits?.negative {
      fail(
        name, setting: limit.name,
        message: "\(limit.name) of \(name) is \(limit.value); write how many payments a day are made at once.")
    }
    definitions.append(
      FunctionDefinition(
        name: name, trigger: trigger, pattern: found.pattern, players: found.players, sample: found.sample,
        filter: filter, options: options, settings: node, defaults: declared, limits: limits
      ) { run, context in
        do {
          return try await body(run, context, settings)
        } catch let mismatch as TypeMismatch {
          return .skipped("type_mismatch: \(found.pattern): \(mismatch.reason)")
        } catch let skipped as RunSkipped {
          return .skipped(skipped.reason)
        }
      })
    // What waits for a confirmation needs a function that pays it out.
    if limits?.untilConfirmed == true { _ = confirmation() }
  }

  /// All settings of a function with their values, its limits included, and without the configuration's overrides. Unknown settings
  /// of the configuration are errors.
  private func settingsNode<Settings: FunctionSettings>(_ defaults: Settings, limits: RewardLimits?, of name: String)
    -> (values: TreeNode, defaults: TreeNode)
  {
    guard var node = try? TreeNodeEncoder.encode(defaults) else { return (.absent, .absent) }
    var names = Set(node.children.map(\.key.text)).union(Settings.optionalNames)
    if let limits {
      if let twice = names.intersection(RewardLimits.names).min() {
        mistake("\(name): \(twice) is a setting of the function and one of its limits; keep one.")
      }
      names.formUnion(RewardLimits.names)
      let declared = (try? TreeNodeEncoder.encode(limits)) ?? .absent
      for entry in declared.children { node = .map(node.children.setting(entry.key, to: entry.node)) }
    }
    let declared = node
    for override in overrides[Key(unchecked: name)].children {
      guard names.contains(override.key.text) else {
        // Where it runs changes nothing of what it does: it is not recorded with its runs.
        if override.key.text == Self.inlineName { continue }
        fail(
          name, setting: override.key.text,
          message: "\(name) has no setting \(override.key); it has \(names.sorted().joined(separator: ", ")).")
        continue
      }
      node = .map(node.children.setting(override.key, to: override.node))
    }
    return (node, declared)
  }

  /// The setting that every function has beside its own.
  private static let inlineName = "inline"

  /// Where a function may run, with the configuration's override.
  private func inlineMode(_ declared: FunctionOptions.InlineMode, of name: String) -> FunctionOptions.InlineMode {
    let override = overrides[Key(unchecked: name)][Key(unchecked: Self.inlineName)]
    guard override.exists else { return declared }
    if let mode = override.scalar?.stringValue.flatMap(FunctionOptions.InlineMode.init(rawValue:)) { return mode }
    let modes = FunctionOptions.InlineMode.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
    fail(name, setting: Self.inlineName, message: "\(Self.inlineName) of \(name) cannot be read: write \(modes).")
    return declared
  }

  private func fail(_ function: String, setting: String?, message: String) {
    guard !stops else { Misuse.stop(message) }
    let error = SettingError(function: function, setting: setting, message: message)
    if !settingErrors.contains(error) { settingErrors.append(error) }
  }
}

/// A kind of coin that a deployment declares beside its functions.
public struct CurrencyDeclaration: Sendable {
  /// Such as `gems`.
  public let unit: String
  /// Where the balances are.
  public let pattern: PathPattern
  /// The kind of account that a balance belongs to: `user` makes `user:bob`.
  public let holder: String
}

extension Functions {
  /// Declares a currency: the value at the path is a balance. Functions credit it, and any other change of it is entered in the
  /// ledger too, as an adjustment by the writer.
  ///
  /// ```swift
  /// functions.currency("gems", at: TreePath<Int64, UserID>("/pirates/{uid}/gems"))
  /// ```
  /// `pieces_of_eight` below `/users/{uid}/inventory` needs no declaration. The currencies of a configuration file come beside
  /// these; declare each of them before it has balances.
  /// - `unit`: the coin's name in the ledger.
  /// - `holder`: the kind of account that balances belong to: `user` makes `user:bob`.
  public func currency<each P>(_ unit: String, at treePath: TreePath<Int64, repeat each P>, holder: String = "user") {
    declare(unit, at: treePath.triggerPath, holder: holder)
  }
}

extension Functions {
  /// Declares where the tree says who referred a player: the server keeps an index from it of who brought whom, for
  /// `GET /v1/referrals` and `doubloon referrals`.
  ///
  /// ```swift
  /// functions.referrer(at: TreePath<UserID, UserID>("/users/{uid}/referred_by"))
  /// ```
  /// There is one such path. A value there counts if it is a legal key, no matter who wrote it.
  public func referrer<Value>(at treePath: TreePath<Value, UserID>) {
    if let known = referrerPath, known != treePath.pattern {
      Misuse.stop("The referrer stands at \(known) already; \(treePath.pattern) cannot be a second place. Declare one.")
    }
    declare(referrerPath: treePath.pattern)
  }
}
