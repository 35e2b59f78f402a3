import AdminClient
import AdminModel
import ArgumentParser
import TreeModel

/// `doubloon ledger entries`: what moved, on all accounts.
struct LedgerEntriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "entries",
    abstract: "List the entries of all accounts, newest first, or find one by its key.",
    discussion: """
      With --code at most 5,000 entries are looked at for a page.

      Examples:
        doubloon ledger entries
        doubloon ledger entries --after 400 --code signup
        doubloon ledger entries --since yesterday --until today
        doubloon ledger entries --once level5/bob
      """)

  @OptionGroup
  var place: EntryPlace

  @Option(help: ArgumentHelp("Only the entry made under this business key.", valueName: "key"))
  var once: String?

  @OptionGroup
  var span: TimeSpan

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let query = AdminLedger.EntryQuery(
      after: place.after, before: place.after == nil ? place.before ?? JSONSchema.countMax : nil, limit: listing.count,
      key: once, code: place.code, since: span.from, until: span.through)
    listing.output.print(try await listing.page(of: AdminLedger.entries, query: query)) { list in
      LedgerText.table(of: list.entries).page(
        empty: "There is no such entry.", next: list.next.map { String($0) }, by: place.nextOption)
    }
  }
}

/// Where a listing of entries begins, and of which code they are.
struct EntryPlace: ParsableArguments {
  @Option(help: ArgumentHelp("Only entries before this one, newest first.", valueName: "entry"))
  var before: Int64?

  @Option(help: ArgumentHelp("Only entries after this one, oldest first.", valueName: "entry"))
  var after: Int64?

  @Option(help: ArgumentHelp("Only entries of this code: signup.", valueName: "word"))
  var code: String?

  mutating func validate() throws {
    guard before == nil || after == nil else { throw ValidationError("Say --before or --after, not both.") }
    guard code?.isEmpty != true else { throw ValidationError("--code must name one.") }
  }

  /// Which option takes a page's "next".
  var nextOption: String { after == nil ? "--before" : "--after" }
}

/// `doubloon ledger accounts`: who has what.
struct LedgerAccountsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accounts",
    abstract: "List the accounts that have entries, with their balances, by name.",
    discussion: """
      Examples:
        doubloon ledger accounts
        doubloon ledger accounts --prefix issuance:
        doubloon ledger accounts --prefix user: --unit gems
      """)

  @Option(help: ArgumentHelp("Only accounts whose names begin so: issuance:, user:b.", valueName: "text"))
  var prefix: String?

  @Option(help: ArgumentHelp("Only balances in this currency.", valueName: "name"))
  var unit: String?

  @Option(help: ArgumentHelp("Only accounts after this one.", valueName: "account"))
  var after: String?

  @Option(help: ArgumentHelp("At most so many rows, 1 to 200.", valueName: "count"))
  var limit: Int64 = 50

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...200).contains(limit) else { throw ValidationError("--limit must be 1 to 200.") }
  }

  func run() async throws {
    let query = AdminLedger.AccountQuery(prefix: prefix, unit: unit, after: after, limit: limit)
    let answer = try await server.withClient { client in
      try await client.call(AdminLedger.accounts, query: query, namespace: server.namespace)
    }
    output.print(answer) { list in
      var table = TextTable([.text("ACCOUNT"), .number("BALANCE"), .text("UNIT"), .number("ENTRIES")])
      for row in list.accounts { table.add([row.account, row.balance.grouped, row.unit, row.entries.grouped]) }
      return table.page(empty: "There is no such account.", next: list.next, by: "--after")
    }
  }
}
