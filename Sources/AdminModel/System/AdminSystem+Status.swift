import TreeModel

extension AdminSystem {
  /// What a server is for.
  package enum ServerMode: String, AdminWord, Hashable {
    case development
    case production
  }

  /// How the last check of everything that is stored ended.
  package struct LastVerification: AdminValue {
    /// When it ended.
    package var at: Timestamp
    package var durationMs: Int64
    package var sound: Bool

    package init(at: Timestamp, durationMs: Int64, sound: Bool) {
      self.at = at
      self.durationMs = durationMs
      self.sound = sound
    }

    package static let notes: [String: FieldNote] = [
      "at": .text("when it ended")
    ]
  }

  /// How the last backup ended.
  package struct LastBackup: AdminValue {
    /// When it ended.
    package var at: Timestamp
    /// What went wrong; not given for one that is whole.
    package var failure: String?

    package init(at: Timestamp, failure: String? = nil) {
      self.at = at
      self.failure = failure
    }

    package static let notes: [String: FieldNote] = [
      "at": .text("when it ended"), "failure": .text("what went wrong"),
    ]
  }

  /// How the server is.
  package struct Status: AdminValue {
    /// What the program says that it is: 0.1.0.
    package var version: String
    package var mode: ServerMode
    package var startedAt: Timestamp
    package var time: Timestamp
    package var epoch: Int64
    package var namespaces: Int64
    package var defaultNamespace: String
    /// The newest commit of the namespace that was asked about; not given while it is not there.
    package var revision: Int64?
    /// Up to this commit the namespace's log was pruned; not given where it never was.
    package var prunedThrough: Int64?
    /// The age of the oldest event that is neither handled nor waiting for a retry, as it was seen last; 0 if there is none.
    package var lagMs: Int64?
    /// How long functions took from commit to effect, for 95 of 100 of the last minutes' effects.
    package var lagP95Micros: Int64?
    package var writer: Writer
    /// Realtime sessions that are open.
    package var sockets: Int64
    /// Event streams that are open.
    package var streams: Int64
    /// Places and windows that clients listen to.
    package var listens: Int64
    /// What an administrator should look at; nothing is broken.
    package var warnings: [String]
    /// What keeps functions from working.
    package var problems: [String]
    /// Their events wait.
    package var pausedFunctions: [PausedFunction]
    /// What functions gave up on.
    package var deadLetters: Failures
    /// What functions failed on, and try again.
    package var retries: Failures
    /// Where the data are.
    package var disk: Disk?
    /// Of everything that is stored, since the start.
    package var lastVerification: LastVerification?
    /// The last one that ended, whole or not; a schedule's is known from before the start.
    package var lastBackup: LastBackup?

    package init(
      version: String, mode: ServerMode, startedAt: Timestamp, time: Timestamp, epoch: Int64, namespaces: Int64,
      defaultNamespace: String, revision: Int64? = nil, prunedThrough: Int64? = nil, lagMs: Int64? = nil,
      lagP95Micros: Int64? = nil, writer: Writer, sockets: Int64, streams: Int64, listens: Int64, warnings: [String],
      problems: [String], pausedFunctions: [PausedFunction], deadLetters: Failures, retries: Failures, disk: Disk? = nil,
      lastVerification: LastVerification? = nil, lastBackup: LastBackup? = nil
    ) {
      self.version = version
      self.mode = mode
      self.startedAt = startedAt
      self.time = time
      self.epoch = epoch
      self.namespaces = namespaces
      self.defaultNamespace = defaultNamespace
      self.revision = revision
      self.prunedThrough = prunedThrough
      self.lagMs = lagMs
      self.lagP95Micros = lagP95Micros
      self.writer = writer
      self.sockets = sockets
      self.streams = streams
      self.listens = listens
      self.warnings = warnings
      self.problems = problems
      self.pausedFunctions = pausedFunctions
      self.deadLetters = deadLetters
      self.retries = retries
      self.disk = disk
      self.lastVerification = lastVerification
      self.lastBackup = lastBackup
    }

    package static let notes: [String: FieldNote] = [
      "version": .text("what the program says that it is: 0.1.0"),
      "revision": .text("the newest commit of the namespace that was asked about; not given while it is not there"),
      "prunedThrough": .text("up to this commit the namespace's log was pruned; not given where it never was"),
      "lagMs": .text(
        "the age of the oldest event that is neither handled nor waiting for a retry, as it was seen last; 0 if there is none"),
      "lagP95Micros": .text("how long functions took from commit to effect, for 95 of 100 of the last effects"),
      "sockets": .text("realtime sessions that are open"),
      "streams": .text("event streams that are open"),
      "listens": .text("places and windows that clients listen to"),
      "warnings": .text("what an administrator should look at; nothing is broken"),
      "problems": .text("what keeps functions from working"),
      "pausedFunctions": .text("their events wait"),
      "deadLetters": .text("what functions gave up on"),
      "retries": .text("what functions failed on, and try again"),
      "disk": .text("where the data are"),
      "lastVerification": .text("of everything that is stored, since the start"),
      "lastBackup": .text("the last one that ended, whole or not; a schedule's is known from before the start"),
    ]
  }
}
