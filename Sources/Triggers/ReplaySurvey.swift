import StorageCore
import TreeModel

/// What an order comes to, counted without running anything.
struct ReplaySurvey: Sendable {
  struct Counts: Sendable {
    /// Would be given to the function.
    var toRun: Int64 = 0
    /// Were handled by it before: nothing would happen.
    var alreadyDone: Int64 = 0
    /// Wait for something else: for the function to be resumed, or for another event of their key.
    var resting: Int64 = 0
    /// Of those that would be given: how many another function has handled, by its name.
    var handledBy: [String: Int64] = [:]

    var json: JSON {
      JSON(present: [
        ("run", .int(toRun)), ("alreadyDone", .int(alreadyDone)), ("resting", .int(resting)),
        ("handledBy", handledBy.isEmpty ? JSON?.none : JSON(counts: handledBy)),
      ])
    }
  }

  private(set) var functions: [String: Counts] = [:]
  /// The first pairs that would be given, for trials.
  private(set) var toTry: [ReplayPair] = []
  /// The first pairs that were handled before, for trials.
  private(set) var finished: [ReplayPair] = []
  private(set) var scanned: Int64 = 0
  private(set) var suppressed: Int64 = 0
  private(set) var unknown: Int64 = 0

  var toRun: Int64 { functions.values.reduce(0) { $0 + $1.toRun } }
  var alreadyDone: Int64 { functions.values.reduce(0) { $0 + $1.alreadyDone } }

  /// Goes through everything that an order is about.
  static func make(of scan: ReplayScan, from start: ReplayCursor?, by replayer: Replayer) async throws -> ReplaySurvey {
    let trialsMax = replayer.options.trialsMax
    return try await replayer.onOwnThread { [engine = replayer.engine] in
      var survey = ReplaySurvey()
      var next = start
      while let cursor = next {
        try Task.checkCancellation()
        let page = try engine.read { (snapshot) throws(StorageError) in try scan.page(from: cursor, in: snapshot) }
        survey.add(page, trialsMax: trialsMax)
        next = page.next
      }
      return survey
    }
  }

  private mutating func add(_ page: ReplayScan.Page, trialsMax: Int) {
    scanned += Int64(page.scanned)
    suppressed += Int64(page.suppressed)
    unknown += Int64(page.unknown)
    for pair in page.pairs {
      switch pair.status {
      case .finished:
        functions[pair.name, default: Counts()].alreadyDone += 1
        if finished.count < trialsMax { finished.append(pair) }
      case .resting, .underway: functions[pair.name, default: Counts()].resting += 1
      case .never, .failed:
        functions[pair.name, default: Counts()].toRun += 1
        for other in pair.handledBy { functions[pair.name, default: Counts()].handledBy[other, default: 0] += 1 }
        if toTry.count < trialsMax { toTry.append(pair) }
      }
    }
  }

  var json: JSON {
    JSON(present: [
      ("run", .int(toRun)), ("alreadyDone", .int(alreadyDone)), ("scanned", .int(scanned)),
      ("suppressed", suppressed > 0 ? .int(suppressed) : JSON?.none),
      ("unknownFunction", unknown > 0 ? .int(unknown) : JSON?.none),
      (
        "functions",
        .array(
          functions.sorted { $0.key < $1.key }.map { name, counts in
            .object([JSON.Member(key: "name", value: .string(name))] + (counts.json.object ?? []))
          })
      ),
    ])
  }
}
