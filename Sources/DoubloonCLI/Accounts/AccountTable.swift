import AdminClient
import AdminModel
import TreeModel

/// Accounts as CSV, for a spreadsheet. Who takes them along stands in the audit log.
enum AccountTable {
  private static let columns = ["uid", "name", "email", "telephone", "providers", "disabled", "created", "last sign-in"]
  private static let atOnce: Int64 = 1000

  /// All accounts that a query means, page by page, with the names of the columns above them.
  static func text(of query: AdminAccounts.Query, from client: AdminClient, namespace: String?) async throws -> String {
    var (query, lines) = (query, [line(columns)])
    (query.limit, query.count) = (atOnce, false)
    repeat {
      let page = try await client.call(AdminAccounts.export, body: query, namespace: namespace).value
      lines += page.accounts.map { line(cells(of: $0)) }
      query.cursor = page.next
    } while query.cursor != nil
    return lines.joined(separator: "\r\n")
  }

  private static func cells(of account: AdminAccounts.Account) -> [String] {
    func moment(_ name: String) -> String {
      account.userInfo[name]?.string.flatMap { Int64($0) }.map { Timestamp($0).text } ?? ""
    }
    return [
      account.localID, account.displayName ?? "", account.email ?? "", account.userInfo["phoneNumber"]?.string ?? "",
      account.providerIDs.joined(separator: " "), "\(account.isDisabled)", moment("createdAt"), moment("lastLoginAt"),
    ]
  }

  /// What a spreadsheet would take for a formula is a text.
  private static func line(_ cells: [String]) -> String {
    cells.map { cell in
      let isFormula = cell.utf8.first.map { "=+-@\t\r".utf8.contains($0) } ?? false
      let quoted = cell.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      return "\"\(isFormula ? "'" : "")\(quoted)\""
    }.joined(separator: ",")
  }
}
