import TextFormats
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
    let daily = Dictionary(grouping: rows, by: \.0.day).sorted { $0.key < $1.key }.flatMap { day, rows in
      let date = CalendarTime(milliseconds: day * 86_400_000).rfc3339.prefix(10)
      return rates(rows).map { JSON.object([JSON.Member(key: "day", value: .string(String(date)))] + ($0.object ?? [])) }
    }
    return [
      "campaign": .string(id), "days": .array(days),
      "totals": .array(
        sorted.map { JSON(fields: fields($0.key.variant, $0.key.kind, $0.key.detail, count: $0.value)) }),
      "rates": .array(rates(rows)), "daily": .array(daily),
    ]
  }

  /// The shares of each variant.
  private static func rates(_ rows: [(MessageCountKey, Int64)]) -> [JSON] {
    Dictionary(grouping: rows, by: \.0.variant).sorted { $0.key < $1.key }.map { variant, rows in
      func sum(_ kinds: MessageCount...) -> Int64 {
        rows.filter { kinds.contains($0.0.kind) }.reduce(0) { $0 + $1.1 }
      }
      let displays = sum(.impression)
      var members: [(String, JSON?)] = [
        ("variant", variant.isEmpty ? JSON?.none : .string(variant)), ("impressions", .int(displays)),
        ("clicks", .int(sum(.click))), ("conversions", .int(sum(.conversion))),
      ]
      members += share(sum(.click), of: displays, names: ("rate", "low", "high"))
      // What a control would have shown is what its conversions are of.
      members += share(
        sum(.conversion), of: displays + sum(.control), names: ("conversionRate", "conversionLow", "conversionHigh"))
      return JSON(fields: members)
    }
  }

  private static func fields(_ variant: String, _ kind: MessageCount, _ detail: String, count: Int64) -> [(String, JSON?)] {
    [
      ("variant", variant.isEmpty ? JSON?.none : .string(variant)), ("kind", .string(kind.rawValue)),
      ("detail", detail.isEmpty ? JSON?.none : .string(detail)), ("count", .int(count)),
    ]
  }

  /// How often a display led to something, with the interval that holds the truth in 95 of 100 cases (Wilson's).
  static func share(_ count: Int64, of displays: Int64, names: (share: String, low: String, high: String))
    -> [(String, JSON?)]
  {
    guard displays > 0 else { return [] }
    let (n, z) = (Double(displays), 1.959_963_985)
    let share = min(1, Double(count) / n)
    let middle = share + z * z / (2 * n)
    let spread = z * (share * (1 - share) / n + z * z / (4 * n * n)).squareRoot()
    let scale = 1 + z * z / n
    return [
      (names.share, .double(share)), (names.low, .double(max(0, (middle - spread) / scale))),
      (names.high, .double(min(1, (middle + spread) / scale))),
    ]
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
