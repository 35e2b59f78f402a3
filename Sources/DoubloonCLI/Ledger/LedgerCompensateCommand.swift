import AdminClient
import AdminModel
import ArgumentParser
import NIOCore
import ServerApp
import ServerConfiguration
import TreeModel

/// `doubloon ledger compensate`: pays what a table says.
struct LedgerCompensateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compensate",
    abstract: "Pay a table of players, each line once.",
    discussion: """
      The table is a file of comma-separated values whose first line names the columns: account, amount, key, and perhaps unit \
      and reason. An account without a colon is a player's id. The key makes a line the same payment for ever: the same file \
      again pays nothing, and what was cut off in the middle goes on where it was. Nothing is paid while a line is at fault. \
      The coins come from issuance:compensation.

      Examples:
        doubloon ledger compensate outage.csv --dry-run
        doubloon ledger compensate outage.csv --reason "the outage of 12 March"
      """)

  @Argument(help: "The file; - reads the standard input.")
  var file: String

  @Option(help: ArgumentHelp("Why, for lines that do not say it themselves.", valueName: "text"))
  var reason: String?

  @Flag(help: "Only say what it would do.")
  var dryRun = false

  @Flag(help: "Pay also players of whom there is no account and no record.")
  var allowUnknown = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard dryRun || reason?.isEmpty == false else { throw ValidationError("--reason must say why, for the record.") }
  }

  func run() async throws {
    guard let text = String(validating: try FileBytes.read(file), as: UTF8.self) else {
      throw CommandError("\(file) is no text in UTF-8.")
    }
    guard !text.isEmpty else { throw CommandError("\(file) is empty.") }
    let order = AdminCompensation.CompensationOrder(csv: text, reason: reason, allowUnknown: allowUnknown ? true : nil)
    try await server.withClient { client in
      if dryRun {
        let preview = try await client.call(
          AdminCompensation.previewCompensation, body: order, namespace: server.namespace, timeout: .minutes(10))
        output.print(preview, Self.text)
        if preview.value.faultCount > 0 { throw ExitCode(1) }
        return
      }
      let paid = try await client.call(
        AdminCompensation.compensate, body: order, namespace: server.namespace, timeout: .minutes(30))
      output.print(paid, Self.text)
      if !paid.value.refused.isEmpty { throw ExitCode(1) }
    }
  }

  static func text(_ preview: AdminCompensation.CompensationPreview) -> String {
    var lines = [
      "\(preview.pays.counted("line", many: "lines")) would be paid, \(LedgerText.coins(preview.coins)); "
        + "\(preview.repeated.grouped) paid before."
    ]
    if preview.unknown > 0 {
      lines.append("\(preview.unknown.grouped) of players without an account and a record, which takes --allow-unknown:")
      lines += preview.unknownPlayers.map { "  line \($0.line): \($0.account)".printable }
    }
    if preview.faultCount > 0 {
      lines.append("\(preview.faultCount.counted("fault", many: "faults")); nothing is paid while there are any:")
      lines += preview.faults.map { "  line \($0.line)\($0.column.isEmpty ? "" : ", \($0.column)"): \($0.error)".printable }
    }
    return lines.joined(separator: "\n")
  }

  static func text(_ paid: AdminCompensation.Compensated) -> String {
    let head =
      paid.paid == 0 && paid.refused.isEmpty
      ? "Nothing was paid: all \(paid.repeated.counted("line", many: "lines")) had been paid before."
      : "\(paid.paid.counted("line", many: "lines")) paid, \(LedgerText.coins(paid.coins)); \(paid.repeated.grouped) paid before."
    return ([head] + paid.refused.map { "  line \($0.line): \($0.error)".printable }).joined(separator: "\n")
  }
}
