package import TreeModel

/// Everything that can be set about messages. Times are in milliseconds.
package struct MessageSettings: Sendable, Hashable {
  /// How long a client waits for its next fetch.
  package var fetchInterval: Int64 = 3_600_000
  /// Between two messages of the foreground or the launch.
  package var foregroundInterval: Int64 = 86_400_000
  /// Between any two messages.
  package var minInterval: Int64 = 30_000
  /// How long a message must be seen to count.
  package var impressionTime: Int64 = 3000
  /// When a banner closes by itself.
  package var bannerTime: Int64 = 12_000
  /// How long an event waits to be told.
  package var eventDays: Int64 = 30
  /// How long an instance that does not come is kept.
  package var instanceDays: Int64 = 400
  /// Whether clients may listen.
  package var hasStreams = true
  /// Campaigns that may be published at once.
  package var publishedMax: Int64 = 200
  /// Host names at which `/log` is the messages' own.
  package var hosts: [String] = []
  /// What stands in app ids: `1:NUMBER:ios:HASH`; nil: any number.
  package var projectNumber: String?

  package init() {}

  private static let members = [
    "fetchInterval", "foregroundInterval", "minInterval", "impressionSeconds", "bannerSeconds", "eventDays", "instanceDays",
    "streams", "maxPublished", "hosts", "projectNumber",
  ]

  /// As they are written: intervals as texts such as `1h`.
  package var json: JSON {
    JSON(fields: [
      ("fetchInterval", .string(Self.text(fetchInterval))), ("foregroundInterval", .string(Self.text(foregroundInterval))),
      ("minInterval", .string(Self.text(minInterval))), ("impressionSeconds", .int(impressionTime / 1000)),
      ("bannerSeconds", .int(bannerTime / 1000)), ("eventDays", .int(eventDays)), ("instanceDays", .int(instanceDays)),
      ("streams", .bool(hasStreams)), ("maxPublished", .int(publishedMax)), ("hosts", .array(hosts.map(JSON.string))),
      ("projectNumber", projectNumber.map(JSON.string)),
    ])
  }

  /// Reads settings; what is left out has its default.
  ///
  /// - Throws: ``MessageError/invalid(_:)`` with everything that is wrong.
  package init(json: JSON) throws(MessageError) {
    let faults = CampaignFaults()
    guard let reader = DocumentReader(json, at: "", known: Self.members, faults: faults) else {
      throw .invalid(faults.refusals)
    }
    fetchInterval = Self.interval(reader, named: "fetchInterval", range: 1000...3 * 86_400_000) ?? fetchInterval
    foregroundInterval = Self.interval(reader, named: "foregroundInterval", range: 0...30 * 86_400_000) ?? foregroundInterval
    minInterval = Self.interval(reader, named: "minInterval", range: 0...86_400_000) ?? minInterval
    impressionTime = reader.integer("impressionSeconds", range: 0...60).map { Int64($0) * 1000 } ?? impressionTime
    bannerTime = reader.integer("bannerSeconds", range: 1...600).map { Int64($0) * 1000 } ?? bannerTime
    eventDays = reader.integer("eventDays", range: 1...365).map(Int64.init) ?? eventDays
    instanceDays = reader.integer("instanceDays", range: 1...3650).map(Int64.init) ?? instanceDays
    hasStreams = reader.flag("streams") ?? hasStreams
    publishedMax = reader.integer("maxPublished", range: 1...200).map(Int64.init) ?? publishedMax
    hosts = (reader.texts("hosts", count: 0...20) ?? []).map { $0.lowercased() }
    projectNumber = reader.text("projectNumber", length: 1...20)
    if let projectNumber, !projectNumber.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      reader.refuse("BAD_VALUE", at: "projectNumber", "\"projectNumber\" must have digits only.")
    }
    guard faults.refusals.isEmpty else { throw .invalid(faults.refusals) }
  }

  private static func interval(_ reader: DocumentReader, named name: String, range: ClosedRange<Int64>) -> Int64? {
    guard let text = reader.text(name, length: 1...20) else { return nil }
    let units: [(String, Int64)] = [("ms", 1), ("s", 1000), ("min", 60_000), ("h", 3_600_000), ("d", 86_400_000)]
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let number = Int64(digits), let unit = units.first(where: { $0.0 == text.dropFirst(digits.count) })?.1,
      !number.multipliedReportingOverflow(by: unit).overflow, range.contains(number * unit)
    else {
      reader.refuse(
        "BAD_VALUE", at: name,
        "\"\(name)\" must be a time such as 30s, 10min, 1h or 1d, from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))."
      )
      return nil
    }
    return number * unit
  }

  private static func text(_ time: Int64) -> String {
    for (name, unit) in [("d", Int64(86_400_000)), ("h", 3_600_000), ("min", 60_000), ("s", 1000)]
    where time >= unit && time % unit == 0 { return "\(time / unit)\(name)" }
    return time == 0 ? "0s" : "\(time)ms"
  }
}
