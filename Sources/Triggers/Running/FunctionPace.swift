import FunctionsKit

/// How short runs are that happen on the writer, and what bounds them.
package struct InlineOptions: Sendable {
  /// Whether functions may run on the writer at all.
  package var isEnabled = true
  /// Runs in a row that a function must have had on threads of its own, short and without suspending, before it runs on the
  /// writer.
  package var cleanRuns = 16
  /// For how long runs may compute on average, in nanoseconds. What a run costs on a thread of its own, beside the run, is more.
  package var meanMax: Int64 = 100_000
  /// How long one run may take, in nanoseconds: beyond that it is dropped at its next use of the context.
  package var budget: Int64 = 200_000
  /// How often one run may read.
  package var lookUpsMax = 32
  /// How many runs may follow one commit, those that its effects cause among them.
  package var runsMax = 64
  /// How long a run may compute without using its context before the process is ended, in milliseconds.
  package var stallMax: Int64 = 2000
  /// What measures runs.
  package var meter: any RunMeter = SystemRunMeter()
  /// Ends the process, for a run that never ends would hold up every write for ever. The message says why.
  package var endProcess: @Sendable (String) -> Void = { fatalError($0) }

  /// The defaults.
  package init() {}
}

/// How long a function's runs take, and so whether it may run on the writer.
///
/// It begins on threads. After enough short runs there it is tried on the writer, where reading is cheaper; it stays as long
/// as its runs are short on average, and goes back to the threads for twice as many runs each time that one was not.
struct FunctionPace: Sendable {
  /// So many samples count for the mean: the weight of each is one part of these.
  private static let samples: Int64 = 16
  /// The most runs on threads before the next trial, and what a function needs that a process died in.
  private static let neededMax = 1024

  /// Whether it may run on the writer now.
  private(set) var isInline = false
  /// The mean time of the last runs, where they happen now, in nanoseconds; nil before the first.
  private(set) var mean: Int64?
  /// Runs in a row on threads that neither failed nor suspended.
  private var clean = 0
  /// How many of these it needs.
  private var needed: Int
  /// Runs on the writer since it was last admitted there.
  private var trials = 0
  private let options: InlineOptions
  private let mode: FunctionOptions.InlineMode

  /// - `mode`: whether it may ever run on the writer.
  init(_ options: InlineOptions, mode: FunctionOptions.InlineMode) {
    self.options = options
    self.mode = mode
    needed = options.cleanRuns
    isInline = needed == 0 && mode == .whenShort
  }

  /// Takes note of a run on a thread.
  ///
  /// - `isClean`: whether it neither suspended nor failed.
  mutating func noteThreaded(_ nanoseconds: Int64, isClean: Bool) {
    guard !isInline else { return }
    add(nanoseconds)
    clean = isClean ? clean + 1 : 0
    guard mode == .whenShort, clean >= needed, let mean, mean <= options.budget else { return }
    isInline = true
    trials = 0
    self.mean = nil
  }

  /// Takes note of a run on the writer that was short enough, and for how long it computed.
  mutating func noteInline(_ nanoseconds: Int64) {
    guard isInline else { return }
    add(nanoseconds)
    trials += 1
    if trials >= Self.samples, let mean, mean > options.meanMax { return demote() }
    // Long enough without a fault: an old one is forgotten by halves.
    if trials % Self.neededMax == 0 { needed = max(options.cleanRuns, needed / 2) }
  }

  /// A run was not short, suspended, or asked for what only a thread can look up.
  mutating func demote() {
    guard isInline else { return }
    isInline = false
    clean = 0
    mean = nil
    needed = min(max(needed * 2, 2), Self.neededMax)
  }

  /// The process died in one of its runs: it has to prove itself for long.
  mutating func bar() {
    isInline = false
    clean = 0
    mean = nil
    needed = Self.neededMax
  }

  /// An administrator answers for it: it starts over.
  mutating func forgive() {
    self = FunctionPace(options, mode: mode)
  }

  private mutating func add(_ nanoseconds: Int64) {
    // One that was held up by the machine must not count for hundreds.
    let sample = min(nanoseconds, options.budget * 2)
    mean = mean.map { $0 + (sample - $0) / Self.samples } ?? sample
  }
}
