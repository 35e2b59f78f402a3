public import StorageCore
import TreeModel

extension Dispatcher {
  /// Compares the registered functions with what storage remembers, settles what a crash left behind, and gets ready.
  ///
  /// Nothing runs before ``run()``. What was settled already is not looked at: a start costs the same after a million
  /// events as after ten.
  public func start(writer: any TreeWriter) async throws -> StartReport {
    attach(writer)
    let now = clock.now()
    var plan = try engine.read { (snapshot) throws(StorageError) in
      try StartPlan(table: table, now: now, snapshot: snapshot)
    }
    try await store(plan.functionRecords, in: plan.namespaces.first?.id)
    try await settleCrashes(&plan, at: now)
    for namespace in plan.namespaces {
      let found = try engine.read { (snapshot) throws(StorageError) in
        try plan.deliveries(in: namespace.id, from: snapshot)
      }
      try await store(found.moved, in: namespace.id)
      plan.report.deadLetters += found.moved.count { $0.new.state == .dead }
      plan.report.waiting += found.ready.count
      let settled = namespace.settled
      let suspects = plan.suspects
      withState { $0.open(namespace.id, settled: settled, found.ready, suspects: suspects) }
    }
    let lagging = plan.namespaces.map(\.id)
    withState { state in
      state.adopt(plan)
      for namespace in inbox.open(lagging: lagging) { state.fallBehind(namespace) }
      for namespace in lagging { state.fallBehind(namespace) }
    }
    return plan.report
  }

  private func store(_ functions: [FunctionRecord], in namespace: NamespaceID?) async throws {
    guard !functions.isEmpty else { return }
    // Functions belong to no namespace; a store without any is asked under the number that none has.
    var request = CommitRequest(namespace: namespace ?? NamespaceID(rawValue: 0), actor: .system("triggers"))
    request.functions = functions
    try await commit(request)
  }

  private func store(_ moves: [StartPlan.Move], in namespace: NamespaceID) async throws {
    let renamed = moves.filter { $0.old.function != $0.new.function }
    for move in renamed {
      var request = CommitRequest(namespace: namespace, actor: .system("triggers"))
      request.deliveries = [move.new]
      request.settles = (move.old.event, move.old.function)
      try await commit(request)
    }
    let same = moves.filter { $0.old.function == $0.new.function }
    for start in stride(from: 0, to: same.count, by: 256) {
      var request = CommitRequest(namespace: namespace, actor: .system("triggers"))
      request.deliveries = same[start..<min(start + 256, same.count)].map(\.new)
      try await commit(request)
    }
  }

  /// Finds the runs that the last process died in. They are suspects: each is run again alone, so that the one that kills
  /// the process is known when it dies again. After the third death that an event is to blame for it is a dead letter, and
  /// its function is paused: one event must not keep a whole server from running.
  private func settleCrashes(_ plan: inout StartPlan, at now: Int64) async throws {
    guard let notes else { return }
    for note in notes.read() {
      guard let function = table.position(of: note.function) else { continue }
      let known = plan.namespaces.contains { $0.id == note.namespace }
      let crash = try engine.read { (snapshot) throws(StorageError) in
        known ? try CrashFinding(note, snapshot: snapshot) : nil
      }
      guard let crash else { continue }
      if crash.isBlamed {
        plan.report.crashed.append("\(note.function) \(note.event)")
      } else {
        plan.report.suspects.append("\(note.function) \(note.event)")
      }
      let isFatal = crash.isBlamed && crash.crashes >= options.crashesMax
      if !isFatal { plan.suspects.insert(ReplayItem(event: note.event, function: note.function)) }
      var request = CommitRequest(namespace: note.namespace, actor: .system("triggers"))
      request.deliveries = [crash.record(isDead: isFatal, at: now)]
      if let attempt = crash.attempt(settings: table.settings[function], at: now) {
        var upkeep = Upkeep()
        upkeep.failedAttempt = attempt
        request.upkeep = upkeep
      }
      if isFatal {
        plan.pause(
          function,
          because: "paused by the engine: its run for \(note.event) killed the process \(crash.crashes) times; "
            + "correct the function, deploy, and resume it", at: now)
        request.functions = [plan.record(of: function, at: now)]
      }
      try await commit(request)
    }
    notes.clearAll()
  }
}
