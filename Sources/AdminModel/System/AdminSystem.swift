import TreeModel

/// The server itself: how it is, what it holds, its copies, who did what.
package enum AdminSystem {
  package static let status = Endpoint<NoQuery, NoBody, Status>(
    .get, "/admin/v1/status", "How the server is, and where a namespace's log stands.", isScoped: true)
  /// Whether writes and functions work: no part of the administrators' surface, but what they look at first.
  package static let readiness = Endpoint<NoQuery, NoBody, Readiness>(
    .get, "/readyz", "Whether writes and functions work; 503 with the reasons if not.", others: [503: "Not ready."])
  package static let verify = Endpoint<NoQuery, NoBody, Verification>(
    .get, "/admin/v1/verify", "Checks everything that is stored, of all namespaces.")
  package static let backup = Endpoint<NoQuery, BackupOrder, Backup>(
    .post, "/admin/v1/backup", "Copies the store into a new file on the server.", access: .admin)
  package static let clock = Endpoint<NoQuery, ClockOrder, Clock>(
    .post, "/admin/v1/clock", "Moves the clock forward (development only).", access: .adminInDevelopment)

  package static let namespaces = Endpoint<NoQuery, NoBody, NamespaceList>(
    .get, "/admin/v1/namespaces", "The namespaces, each with its revision.")
  package static let createNamespace = Endpoint<NoQuery, NamespaceOrder, CreatedNamespace>(
    .post, "/admin/v1/namespaces", "Makes a namespace.", access: .admin)
  package static let deleteNamespace = Endpoint<ReasonQuery, NoBody, Done>(
    .delete, "/admin/v1/namespaces/{name}", "Forgets a namespace whole: tree, log, ledger (development only).",
    access: .adminInDevelopment, captures: [.capture("name", text: "The namespace.")]
  ).withProof

  /// What one function gave up on, or failed on and tries again.
  package struct FunctionFailures: AdminValue {
    package var function: String
    package var count: Int64
    package var namespace: String
    package var event: String
    package var attempts: Int64
    package var error: String
    package var time: Timestamp

    package init(
      function: String, count: Int64, namespace: String, event: String, attempts: Int64, error: String, time: Timestamp
    ) {
      self.function = function
      self.count = count
      self.namespace = namespace
      self.event = event
      self.attempts = attempts
      self.error = error
      self.time = time
    }
  }

  /// What functions gave up on, or failed on and try again.
  package struct Failures: AdminValue {
    package var count: Int64
    /// Whether all were counted.
    package var complete: Bool
    /// Each with its count and its last one: namespace, event, attempts, error, time.
    package var functions: [FunctionFailures]

    package init(count: Int64, complete: Bool, functions: [FunctionFailures]) {
      self.count = count
      self.complete = complete
      self.functions = functions
    }

    package static let notes: [String: FieldNote] = [
      "complete": .text("whether all were counted"),
      "functions": .text("each with its count and its last one: namespace, event, attempts, error, time"),
    ]
  }

  /// The one who writes.
  package struct Writer: AdminValue {
    package var queueDepth: Int64
    package var failure: String?

    package init(queueDepth: Int64, failure: String? = nil) {
      self.queueDepth = queueDepth
      self.failure = failure
    }
  }

  /// A function that gets no events.
  package struct PausedFunction: AdminValue {
    package var name: String
    package var reason: String

    package init(name: String, reason: String) {
      self.name = name
      self.reason = reason
    }
  }

  /// The disk that the data are on.
  package struct Disk: AdminValue {
    package var folder: String
    package var freeBytes: Int64
    package var totalBytes: Int64

    package init(folder: String, freeBytes: Int64, totalBytes: Int64) {
      self.folder = folder
      self.freeBytes = freeBytes
      self.totalBytes = totalBytes
    }
  }

  /// Whether writes and functions work.
  package struct Readiness: AdminValue {
    package var status: String
    package var reasons: [String]?

    package init(status: String, reasons: [String]? = nil) {
      self.status = status
      self.reasons = reasons
    }
  }

  /// What was found in one namespace.
  package struct NamespaceVerification: AdminValue {
    package var namespace: String
    package var commits: Int64?
    package var executions: Int64?
    package var entries: Int64?
    package var ledgerAccounts: Int64?
    /// Players whose referrer is known.
    package var referrals: Int64?
    /// In the log, the ledger and the index of referrals.
    package var faultCount: Int64
    package var faults: [String]

    package init(
      namespace: String, commits: Int64? = nil, executions: Int64? = nil, entries: Int64? = nil, ledgerAccounts: Int64? = nil,
      referrals: Int64? = nil, faultCount: Int64, faults: [String]
    ) {
      self.namespace = namespace
      self.commits = commits
      self.executions = executions
      self.entries = entries
      self.ledgerAccounts = ledgerAccounts
      self.referrals = referrals
      self.faultCount = faultCount
      self.faults = faults
    }

    package static let notes: [String: FieldNote] = [
      "referrals": .text("players whose referrer is known"),
      "faultCount": .text("in the log, the ledger and the index of referrals"),
    ]
  }

  /// Everything that can be proved of what is stored.
  package struct Verification: AdminValue {
    package var sound: Bool
    /// Of the tables, read and compared with what proves them.
    package var rows: Int64
    /// In pages and rows.
    package var faultCount: Int64
    package var faults: [String]
    package var namespaces: [NamespaceVerification]

    package init(sound: Bool, rows: Int64, faultCount: Int64, faults: [String], namespaces: [NamespaceVerification]) {
      self.sound = sound
      self.rows = rows
      self.faultCount = faultCount
      self.faults = faults
      self.namespaces = namespaces
    }

    package static let notes: [String: FieldNote] = [
      "rows": .text("of the tables, read and compared with what proves them"),
      "faultCount": .text("in pages and rows"),
    ]
  }

  /// Where a copy goes.
  package struct BackupOrder: AdminValue {
    /// An absolute path on the server.
    package var path: String
    /// Whose private key opens it; nil leaves it open to everybody who can read the file.
    package var recipient: String?
    /// Whether the server's key files are in it; nil: if it is sealed.
    package var keys: Bool?
    /// Whether the files of the configuration are in it; nil: no.
    package var configuration: Bool?
    /// Whether it is the store's own file, without a manifest and everything else; nil: no.
    package var bare: Bool?

    package init(
      path: String, recipient: String? = nil, keys: Bool? = nil, configuration: Bool? = nil, bare: Bool? = nil
    ) {
      self.path = path
      self.recipient = recipient
      self.keys = keys
      self.configuration = configuration
      self.bare = bare
    }

    package static let notes: [String: FieldNote] = [
      "path": .only(.form("^/.+$"), text: "an absolute path on the server"),
      "recipient": .text("to whom it is sealed: what `doubloon backup-key` prints"),
      "keys": .text("whether the keys that sign tokens are in it; if it is sealed they are, unless this says otherwise"),
      "configuration": .text("whether the files of the configuration are in it"),
      "bare": .text("whether it is the store's own file and nothing else"),
    ]
  }

  /// A copy that was made.
  package struct Backup: AdminValue {
    package var status: Done.Status
    package var path: String
    /// The size of the file.
    package var bytes: Int64?
    /// SHA-256 of the file.
    package var sha256: String?
    /// Whether only its recipient can read it.
    package var sealed: Bool?
    /// Whether the server's key files are in it.
    package var keys: Bool?

    package init(
      status: Done.Status, path: String, bytes: Int64? = nil, sha256: String? = nil, sealed: Bool? = nil, keys: Bool? = nil
    ) {
      self.status = status
      self.path = path
      self.bytes = bytes
      self.sha256 = sha256
      self.sealed = sealed
      self.keys = keys
    }
  }

  /// How far the clock is moved.
  package struct ClockOrder: AdminValue {
    /// Milliseconds.
    package var advance: Int64

    package init(advance: Int64) {
      self.advance = advance
    }

    package static let notes: [String: FieldNote] = [
      "advance": .only(.integer(0...3_155_760_000_000), text: "milliseconds")
    ]
  }

  /// What time it is.
  package struct Clock: AdminValue {
    package var time: Timestamp

    package init(time: Timestamp) {
      self.time = time
    }
  }

  /// A tree with its own log and ledger.
  package struct Namespace: AdminValue {
    package var name: String
    package var createdAt: Timestamp
    package var revision: Int64
    package var entries: Int64

    package init(name: String, createdAt: Timestamp, revision: Int64, entries: Int64) {
      self.name = name
      self.createdAt = createdAt
      self.revision = revision
      self.entries = entries
    }
  }

  /// The namespaces, each with its revision.
  package struct NamespaceList: AdminValue {
    package var namespaces: [Namespace]

    package init(namespaces: [Namespace]) {
      self.namespaces = namespaces
    }
  }

  /// A namespace to make.
  package struct NamespaceOrder: AdminValue {
    /// 1 to 64 letters, digits and hyphens.
    package var name: String

    package init(name: String) {
      self.name = name
    }

    package static let notes: [String: FieldNote] = [
      "name": .only(.form("^[A-Za-z0-9-]{1,64}$"), text: "1 to 64 letters, digits and hyphens")
    ]
  }

  /// A namespace that was made.
  package struct CreatedNamespace: AdminValue {
    package var status: Done.Status
    package var name: String

    package init(status: Done.Status, name: String) {
      self.status = status
      self.name = name
    }
  }
}
