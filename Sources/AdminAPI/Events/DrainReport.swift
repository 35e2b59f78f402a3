package import TreeModel

/// What a drain left.
package struct DrainReport: Sendable, Hashable {
  /// Whether everything was settled in time.
  package let isComplete: Bool
  /// Runs that are still going on or were not begun; each as an object with `event` and `function`.
  package let running: [JSON]
  /// What counts as settled and is not done: runs that wait for a retry, are paused, or are dead letters.
  package let unfinished: [JSON]

  package init(isComplete: Bool, running: [JSON], unfinished: [JSON]) {
    self.isComplete = isComplete
    self.running = running
    self.unfinished = unfinished
  }
}
