import StorageCore

/// How a commit came about: the functions and events that led to it, the latest first.
struct CauseChain: CustomStringConvertible {
  private(set) var causes: [Cause] = []

  /// Follows a cause back to the first write, as far as the log remembers, at most 64 steps.
  init(endingWith last: Cause?, in namespace: NamespaceID, reading storage: any StorageReading) {
    var next = last
    while let cause = next, causes.count < 64 {
      causes.append(cause)
      guard cause.parent != nil else { return }
      // A log that was pruned, or cannot be read, only makes the chain shorter: it is for people.
      next = (try? storage.commit(in: namespace, at: cause.event.revision))?.cause
    }
  }

  var description: String {
    causes.map { "\($0.function) for \($0.event)" }.joined(separator: " ← ")
  }
}

extension Cause {
  /// The commit that the cause's event happened in; nil for an invocation by hand, which happened in none.
  var parent: Revision? { event.epoch > 0 ? event.revision : nil }
}
