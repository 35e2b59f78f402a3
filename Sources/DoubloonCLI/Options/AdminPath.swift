import TextFormats
import TreeModel

/// Where the admin surface has what; every route that the commands use, in one place.
enum AdminPath {
  static let status = "/admin/v1/status"
  static let drain = "/admin/v1/drain"
  static let everything = "/admin/v1/verify"
  static let backup = "/admin/v1/backup"
  static let namespaces = "/admin/v1/namespaces"

  static let events = "/admin/v1/events"
  static let why = "/admin/v1/why"
  static let accounts = "/admin/v1/accounts"
  static let erasures = "/admin/v1/erasures"
  static let audits = "/admin/v1/audits"
  static let data = "/admin/v1/data"
  static let dataDiff = "/admin/v1/data/diff"
  static let dataLog = "/admin/v1/data/log"
  static let functions = "/admin/v1/functions"
  static let rules = "/.settings/rules.json"
  static let explainRules = "/admin/v1/rules/explain"
  static let replays = "/admin/v1/replays"
  static let log = "/admin/v1/log"
  static let acknowledge = "/admin/v1/dead-letters/acknowledge"

  static let serviceAccounts = "/admin/v1/service-accounts"
  static let links = "/admin/v1/links"
  static let link = "/admin/v1/links/link"
  static let linkStats = "/admin/v1/links/stats"
  static let linkImport = "/admin/v1/links/import"
  static let linkSettings = "/admin/v1/links/settings"
  static let invites = "/admin/v1/invites"
  static let inviteSettings = "/admin/v1/invites/settings"
  static let suppressions = "/admin/v1/invites/suppressions"

  static let referrals = "/admin/v1/referrals"
  static let topReferrers = "/admin/v1/referrals/top"

  static let holds = "/admin/v1/ledger/holds"
  static let balance = "/admin/v1/ledger/balance"
  static let statement = "/admin/v1/ledger/statement"
  static let verify = "/admin/v1/ledger/verify"
  static let reverse = "/admin/v1/ledger/reverse"
  static let transfers = "/admin/v1/ledger/transfers"

  /// One service account.
  static func serviceAccount(_ name: String) -> String { "\(serviceAccounts)/\(PercentEncoding.encode(name))" }

  /// One account.
  static func account(_ uid: String) -> String { "\(accounts)/\(PercentEncoding.encode(uid))" }

  /// What is done to a hold: `release`, `void`.
  static func hold(_ sequence: Int64, _ action: String) -> String { "\(holds)/\(sequence)/\(action)" }

  /// One replay.
  static func replay(_ id: Int64) -> String { "\(replays)/\(id)" }

  /// One event; ids hold slashes, which separate segments there too.
  static func event(_ id: String) -> String {
    events + "/"
      + id.split(separator: "/", omittingEmptySubsequences: false).map { PercentEncoding.encode($0) }.joined(separator: "/")
  }

  /// What is done to a function: `pause`, `resume`, `retry`, `invoke`.
  static func function(_ name: String, _ action: String) -> String {
    "\(functions)/\(PercentEncoding.encode(name))/\(action)"
  }
}
