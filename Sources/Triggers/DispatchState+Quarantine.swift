import StorageCore

extension DispatchState {
  /// Whether a runner may run something: not while a suspect is alone.
  var canRun: Bool { aloneRun == nil && (quarantine.isEmpty || active.isEmpty) }

  /// The run is over, or left behind: others may run again, and if the process dies from now on it is not known by which.
  mutating func endAlone(_ run: Run) {
    guard run.isAlone else { return }
    if aloneRun == run.id { aloneRun = nil }
    if let slot = run.delivery.noteSlot { notes?.endAlone(slot) }
  }

  /// Reading that makes room, or fills it, before anything else is run.
  mutating func nextUpkeep() -> Work? {
    guard lanes.count < options.eventsLow else { return nil }
    if let lane = refills.popFirst() { return .refill(lane) }
    while let function = resumes.popFirst() {
      if let kept = functions[function].kept { return .resume(function, kept) }
    }
    return nil
  }
}
