public import StorageCore

extension LinkBook {
  /// Takes rows in, each with the suffix that it had (spec: links-messaging §9).
  ///
  /// - Parameters:
  ///   - prefix: where the links are to live; nil: under the prefix of their own address, which must be the project's.
  ///   - isDryRun: only says what would become of each.
  public func take(_ rows: [LinkImport.Row], under prefix: LinkPrefix?, isDryRun: Bool, actor: Actor) async throws(LinkFault)
    -> [(row: LinkImport.Row, outcome: LinkImport.Outcome)]
  {
    let outcomes = await withTaskGroup(of: Taken.self) { group in
      var outcomes: [Result<LinkImport.Outcome, LinkFault>?] = Array(repeating: nil, count: rows.count)
      var flying: Set<String> = []
      for (index, row) in rows.enumerated() {
        // Of rows with one address the first is taken.
        while flying.count >= Self.rowsAtOnce || flying.contains(row.short) {
          guard let taken = await group.next() else { break }
          outcomes[taken.index] = taken.outcome
          flying.remove(rows[taken.index].short)
        }
        flying.insert(row.short)
        group.addTask { await self.taken(row, at: index, under: prefix, isDryRun: isDryRun, actor: actor) }
      }
      while let taken = await group.next() { outcomes[taken.index] = taken.outcome }
      return outcomes
    }
    var answers: [(row: LinkImport.Row, outcome: LinkImport.Outcome)] = []
    for (row, outcome) in zip(rows, outcomes) {
      if let outcome = try outcome?.get() { answers.append((row, outcome)) }
    }
    return answers
  }

  /// What became of one row of a table.
  private struct Taken: Sendable {
    let index: Int
    let outcome: Result<LinkImport.Outcome, LinkFault>
  }

  // A function of its own, and no closure that catches: there the optimizer of Swift 6.3 lost the index.
  private func taken(_ row: LinkImport.Row, at index: Int, under prefix: LinkPrefix?, isDryRun: Bool, actor: Actor) async
    -> Taken
  {
    do throws(LinkFault) {
      let outcome = try await take(row, under: prefix, isDryRun: isDryRun, actor: actor)
      return Taken(index: index, outcome: .success(outcome))
    } catch {
      return Taken(index: index, outcome: .failure(error))
    }
  }

  /// Rows that are on their way together: they share transactions.
  private static let rowsAtOnce = 64

  private func take(_ row: LinkImport.Row, under prefix: LinkPrefix?, isDryRun: Bool, actor: Actor) async throws(LinkFault)
    -> LinkImport.Outcome
  {
    let order: LinkOrder
    do throws(LinkFault) {
      order = try self.order(row, under: prefix)
      _ = try LinkChecker(settings: settings).check(order.parameters, below: order.prefix)
    } catch {
      return .refused(error.message)
    }
    if let outcome = try outcome(whereThereIs: order) { return outcome }
    guard !isDryRun else { return .created }
    do throws(LinkFault) {
      _ = try await create(order, isAdmin: true, actor: actor)
      return .created
    } catch  where error.status == .alreadyExists {
      // Another row of the same table came first.
      return try outcome(whereThereIs: order) ?? .refused(error.message)
    } catch  where error.status == .invalidArgument {
      return .refused(error.message)
    }
  }

  /// What becomes of a row whose suffix is there already; nil if it is free.
  private func outcome(whereThereIs order: LinkOrder) throws(LinkFault) -> LinkImport.Outcome? {
    guard let there = try entry("\(order.prefix.key)/\(order.customSuffix ?? "")")?.record else { return nil }
    return there.canonical == order.parameters.canonical
      ? .unchanged : .refused("https://\(there.key) is there and leads elsewhere; remove the row, or the link.")
  }

  private func order(_ row: LinkImport.Row, under target: LinkPrefix?) throws(LinkFault) -> LinkOrder {
    guard let short = LinkURL(row.short.contains("://") ? row.short : "https://\(row.short)"), !short.path.isEmpty else {
      throw .invalid("\"\(row.short.prefix(100))\" is no short link.")
    }
    let segments = short.path.split(separator: "/")
    guard let suffix = segments.last.map(String.init) else { throw .invalid("\"\(row.short.prefix(100))\" has no suffix.") }
    let own = settings.domains.first {
      $0.remainder(of: short.path).map(String.init) == suffix && $0.host == short.host + short.port
    }
    guard let prefix = target ?? own else {
      throw .invalid(
        "\(row.short.prefix(100)) is below none of the \"domains\"; name the prefix that its suffix is to live under.")
    }
    guard settings.domains.contains(prefix) else { throw .invalid("\(prefix) is not among the \"domains\".") }
    guard let long = LinkURL(row.long) else { throw .invalid("\"\(row.long.prefix(100))\" is no link.") }
    var parameters = LinkParameters()
    if let query = long.parameters, query.contains(where: { $0.name == "link" }) {
      parameters = LinkParameters(query)
    } else {
      // Not a long link, but what it would open.
      parameters[.link] = long.text
    }
    var order = LinkOrder(prefix: prefix, parameters: parameters)
    order.option = .custom
    order.customSuffix = suffix
    order.name = row.name
    order.isDisabled = row.isDisabled
    return order
  }
}
