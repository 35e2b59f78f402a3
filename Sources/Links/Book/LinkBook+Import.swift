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
    var outcomes: [(row: LinkImport.Row, outcome: LinkImport.Outcome)] = []
    for row in rows {
      outcomes.append((row, try await take(row, under: prefix, isDryRun: isDryRun, actor: actor)))
    }
    return outcomes
  }

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
    if let there = try entry("\(order.prefix.key)/\(order.customSuffix ?? "")")?.record {
      return there.canonical == order.parameters.canonical
        ? .unchanged : .refused("https://\(there.key) is there and leads elsewhere; remove the row, or the link.")
    }
    guard !isDryRun else { return .created }
    do throws(LinkFault) {
      _ = try await create(order, isAdmin: true, actor: actor)
      return .created
    } catch  where error.status == .invalidArgument || error.status == .alreadyExists {
      return .refused(error.message)
    }
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
    return order
  }
}
