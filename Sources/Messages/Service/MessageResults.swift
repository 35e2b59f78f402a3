import TreeModel

/// What became of a campaign, added up.
enum MessageResults {
  static func json(_ id: String, rows: [(MessageCountKey, Int64)]) -> JSON {
    let days = rows.map { key, count in
      JSON(fields: [("day", .int(key.day))] + fields(key.variant, key.kind, key.detail, count: count))
    }
    var totals: [MessageTotalKey: Int64] = [:]
    for (key, count) in rows {
      totals[MessageTotalKey(variant: key.variant, kind: key.kind, detail: key.detail), default: 0] += count
    }
    let sorted = totals.sorted { $0.key < $1.key }
    let variants = Set(rows.map(\.0.variant)).sorted()
    let rates = variants.map { variant in
      func sum(_ kind: MessageCount) -> Int64 {
        sorted.filter { $0.key.variant == variant && $0.key.kind == kind }.reduce(0) { $0 + $1.value }
      }
      return rate(variant, displays: sum(.impression), clicks: sum(.click))
    }
    return [
      "campaign": .string(id), "days": .array(days),
      "totals": .array(
        sorted.map { JSON(fields: fields($0.key.variant, $0.key.kind, $0.key.detail, count: $0.value)) }),
      "rates": .array(rates),
    ]
  }

  private static func fields(_ variant: String, _ kind: MessageCount, _ detail: String, count: Int64) -> [(String, JSON?)] {
    [
      ("variant", variant.isEmpty ? JSON?.none : .string(variant)), ("kind", .string(kind.rawValue)),
      ("detail", detail.isEmpty ? JSON?.none : .string(detail)), ("count", .int(count)),
    ]
  }

  /// How often a display led to a click, with the interval that holds the truth in 95 of 100 cases (Wilson's).
  static func rate(_ variant: String, displays: Int64, clicks: Int64) -> JSON {
    let members: [(String, JSON?)] = [
      ("variant", variant.isEmpty ? JSON?.none : .string(variant)), ("impressions", .int(displays)), ("clicks", .int(clicks)),
    ]
    guard displays > 0 else { return JSON(fields: members) }
    let (n, z) = (Double(displays), 1.959_963_985)
    let share = min(1, Double(clicks) / n)
    let middle = share + z * z / (2 * n)
    let spread = z * (share * (1 - share) / n + z * z / (4 * n * n)).squareRoot()
    let scale = 1 + z * z / n
    return JSON(
      fields: members + [
        ("rate", .double(share)), ("low", .double(max(0, (middle - spread) / scale))),
        ("high", .double(min(1, (middle + spread) / scale))),
      ])
  }
}

/// What a total is about.
private struct MessageTotalKey: Hashable, Comparable {
  let variant: String
  let kind: MessageCount
  let detail: String

  static func < (a: MessageTotalKey, b: MessageTotalKey) -> Bool {
    (a.variant, a.kind.rawValue, a.detail) < (b.variant, b.kind.rawValue, b.detail)
  }
}
