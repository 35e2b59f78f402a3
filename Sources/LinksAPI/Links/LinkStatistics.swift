import HTTPServer
import StorageCore
import TreeModel

/// Counts as the API shows them.
enum LinkStatistics {
  /// By platform and event, as Google's service adds them up; numbers are texts, as 64 bits are in its JSON.
  static func totals(_ counts: [LinkCount]) -> [JSON] {
    sums(counts) { [$0.platform, $0.event] }.map { names, count in
      ["platform": .string(names[0]), "event": .string(names[1]), "count": .string(String(count))]
    }
  }

  /// By day, platform and event.
  static func days(_ counts: [LinkCount]) -> [JSON] {
    counts.map {
      [
        "day": .string(String(UTCText.of($0.day * 86_400_000).prefix(10))), "platform": .string($0.platform),
        "event": .string($0.event), "count": .int($0.count),
      ]
    }
  }

  private static func sums(_ counts: [LinkCount], by names: (LinkCount) -> [String]) -> [(names: [String], count: Int64)] {
    var sums: [[String]: Int64] = [:]
    for count in counts { sums[names(count), default: 0] += count.count }
    return sums.map { ($0.key, $0.value) }.sorted { $0.names.lexicographicallyPrecedes($1.names) }
  }
}
