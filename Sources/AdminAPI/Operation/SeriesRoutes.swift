import APISupport
import AdminModel
import HTTPServer
import StorageCore
import TreeDatabase

/// What the server did lately, for the charts of the console.
enum SeriesRoutes {
  /// Parts of a series whose number is not asked for.
  private static let pointsDefault: Int64 = 120

  static let routes: [Route] = [.reading(AdminOperation.series, by: series)]

  private static func series(_ call: RouteCall, query: AdminOperation.SeriesQuery) throws -> AdminOperation.Series {
    let now = call.services.database.clock.now()
    return call.services.series.answer(
      query.window ?? .hour, points: query.points ?? pointsDefault, now: now, bounds: call.services.metrics.effectBounds)
  }
}

extension AdminOperation.SeriesWindow {
  /// Which ring has it, and how many of its parts.
  fileprivate var source: (ring: Int, slots: Int64) {
    switch self {
    case .quarter: (0, 900)
    case .hour: (1, 360)
    case .sixHours: (1, 2160)
    case .day: (2, 1440)
    }
  }
}

extension FigureSeries {
  /// A window of the past in about so many parts, which begin at whole multiples of their length: the next look has the same.
  func answer(_ window: AdminOperation.SeriesWindow, points: Int64, now: Int64, bounds: [Int64]) -> AdminOperation.Series {
    let (index, slots) = window.source
    return read(index) { ring in
      let size = max(1, (slots + points - 1) / max(1, points))
      let last = now / ring.unit
      var part = max(0, last - slots + 1) / size
      var rows: [AdminOperation.SeriesPoint] = []
      while part * size <= last {
        var sum = Sample()
        for slot in part * size..<(part + 1) * size where slot <= last && slot > last - slots {
          if let sample = ring[slot] { sum.add(sample) }
        }
        rows.append(AdminOperation.SeriesPoint(sum, time: part * size * ring.unit, bounds: bounds))
        part += 1
      }
      return AdminOperation.Series(window: window, stepMs: size * ring.unit, time: Timestamp(now), points: rows)
    }
  }

  /// How long the quickest 95 of 100 effects of the last minute took at most, in microseconds; nil if there was none.
  func lagP95(now: Int64, bounds: [Int64]) -> Int64? {
    read(0) { ring in
      var sum = Sample()
      let last = now / ring.unit
      for slot in last - 60...last { if let sample = ring[slot] { sum.add(sample) } }
      return sum.lagP95(bounds)
    }
  }
}

extension AdminOperation.SeriesPoint {
  fileprivate init(_ sample: FigureSeries.Sample, time: Int64, bounds: [Int64]) {
    self.init(
      time: Timestamp(time), coveredMs: Int64(sample.covered), commits: Int64(sample.commits), events: Int64(sample.events),
      grants: Int64(sample.entries), deadLetters: Int64(sample.deadLetters), lagP95Micros: sample.lagP95(bounds),
      listens: Int64(sample.listens), connections: Int64(sample.connections), queue: Int64(sample.queue),
      waiting: Int64(sample.waiting))
  }
}

extension AdminServices {
  /// What is counted now, for the series; looks at the functions, too, now and then.
  package func look() -> Figures {
    functionSeries.noteSometimes({ functions?.tallies ?? [] }, at: database.clock.now())
    return figures
  }

  /// What is counted now: numbers that are in memory.
  package var figures: Figures {
    let backlog = functions?.backlog ?? FunctionBacklog()
    var figures = Figures()
    figures.commits = Int64(metrics.total("doubloon_commits_total"))
    figures.events = Int64(metrics.total("doubloon_events_total"))
    figures.entries = Int64(metrics.total("doubloon_ledger_entries_total"))
    figures.deadLetters = Int64(metrics.total("doubloon_dead_letters_total"))
    figures.effects = metrics.effectCounts
    figures.listens = Int64(listeners.counts.listens)
    figures.connections = Int64(metrics.sockets.open + metrics.streams.current)
    figures.queue = Int64(database.queueDepth)
    figures.waiting = Int64(backlog.ready + backlog.behind)
    return figures
  }
}
