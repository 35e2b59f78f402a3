import APISupport
import HTTPServer
import Ledger
import StorageCore
import TreeDatabase

/// What the metrics say beside what is counted while it happens: read when somebody asks, from numbers that are there anyway.
///
/// So nothing here costs anything between two looks, and a look costs some locks that are held for a moment: it waits neither for
/// the disk nor for the writer.
struct MetricsReport {
  let services: AdminServices

  /// The whole text.
  var text: String {
    services.metrics.prometheus(
      listening + connections + writing + functions + waiting + seen + services.furtherMetrics())
  }

  private var listening: [MetricFamily] {
    let counts = services.listeners.counts
    return [
      .counter(
        "doubloon_listen_deliveries_total", help: "Snapshots and changes given to listeners.", value: counts.deliveries),
      .counter(
        "doubloon_listen_resyncs_total", help: "Snapshots that listeners needed again because they fell behind.",
        value: counts.resyncs),
      .gauge("doubloon_listens", help: "Places and windows that clients listen to.", value: counts.listens),
      .gauge("doubloon_sockets", help: "Realtime sessions that are open.", value: services.metrics.sockets.open),
      .gauge("doubloon_streams", help: "Open event streams.", value: services.metrics.streams.current),
    ]
  }

  private var connections: [MetricFamily] {
    let (http, memory) = (services.metrics.http, services.memory)
    return [
      .gauge(
        "doubloon_connections", help: "Connections that are open, whatever is spoken on them.",
        value: http.connections.current),
      .counter(
        "doubloon_connections_refused_total", help: "Connections that were closed at once, for there were too many.",
        value: http.connectionsRefused.current),
      .counter(
        "doubloon_input_refused_total", help: "Clients cut off because all left too much unfinished.",
        value: memory.input.refusals.current),
      .counter(
        "doubloon_output_refused_total", help: "Clients cut off because all left too much unread.",
        value: memory.output.refusals.current),
      .gauge(
        "doubloon_unfinished_input_bytes", help: "Input that is not whole or not answered.", value: memory.input.used),
      .gauge("doubloon_unread_output_bytes", help: "Output that clients do not read.", value: memory.output.used),
    ]
  }

  private var writing: [MetricFamily] {
    let database = services.database
    let statistics = database.statistics
    let (flushes, batches) = (statistics.flushMicroseconds, statistics.batchRequests)
    let (flushed, batched) = (flushes.reading, batches.reading)
    return [
      .gauge("doubloon_writer_queue_depth", help: "Requests that wait for the writer.", value: database.queueDepth),
      .gauge("doubloon_writer_queue_capacity", help: "Requests that may wait.", value: database.limits.queueMax),
      .counter(
        "doubloon_writer_overloads_total", help: "Requests that were refused because too many waited.",
        value: statistics.overloads),
      .gauge(
        "doubloon_writer_failed",
        help: "1 while the writer has stopped: until a full disk has room, else until the server is started again.",
        value: database.failure == nil ? 0 : 1),
      .histogram(
        "doubloon_fsync_seconds", help: "How long the disk took to make a batch of commits durable.",
        bounds: flushes.bounds.map { Double($0) / 1e6 }, counts: flushed.counts, sum: Double(flushed.sum) / 1e6),
      .histogram(
        "doubloon_batch_requests", help: "Requests that shared one batch, and one wait for the disk.",
        bounds: batches.bounds.map(Double.init), counts: batched.counts, sum: Double(batched.sum)),
    ]
  }

  /// By function: there are as many as are registered.
  private var functions: [MetricFamily] {
    let tallies = services.functions?.tallies ?? []
    var runs = MetricFamily.counter("doubloon_function_runs_total", help: "Attempts of functions, by how they ended.")
    for tally in tallies {
      for ending in FunctionTally.Ending.allCases {
        let labels = [(name: "function", value: tally.function), (name: "outcome", value: ending.rawValue)]
        runs = runs.with(Double(tally.endings[ending] ?? 0), labels: labels)
      }
    }
    func each(_ family: MetricFamily, _ read: (FunctionTally) -> Double) -> MetricFamily {
      family.with(tallies, label: "function") { ($0.function, read($0)) }
    }
    return [
      .counter(
        "doubloon_inline_runs_total", help: "Runs of functions on the writer, in the batch of their event.",
        value: services.functions?.paces.reduce(0) { $0 + $1.inlineRuns } ?? 0),
      runs,
      each(.counter("doubloon_function_timeouts_total", help: "Attempts abandoned at their deadline.")) { Double($0.timeouts) },
      each(.counter("doubloon_function_dead_letters_total", help: "Events that a function gave up on.")) {
        Double($0.deadLetters)
      },
      each(.counter("doubloon_function_measured_runs_total", help: "Runs whose time was measured.")) {
        Double($0.measuredRuns)
      },
      each(.counter("doubloon_function_busy_seconds_total", help: "How long these runs took together.")) {
        Double($0.nanoseconds) / 1e9
      },
      each(.counter("doubloon_function_inline_runs_total", help: "Runs of a function on the writer.")) {
        Double($0.inlineRuns)
      },
      each(.gauge("doubloon_function_inline", help: "1 for a function that runs on the writer now.")) { $0.isInline ? 1 : 0 },
      each(.gauge("doubloon_function_paused", help: "1 for a function whose events wait until a person resumes it.")) {
        $0.isPaused ? 1 : 0
      },
      .gauge(
        "doubloon_function_problems", help: "What keeps functions from working.",
        value: services.functions?.problems.count ?? 0),
    ]
  }

  private var waiting: [MetricFamily] {
    let backlog = services.functions?.backlog ?? FunctionBacklog()
    return [
      .gauge("doubloon_events_ready", help: "Events that wait for a thread only.", value: backlog.ready),
      .gauge("doubloon_events_behind", help: "Events that wait for an earlier one of their order key.", value: backlog.behind),
      .gauge("doubloon_events_held", help: "Events behind one that waits for its retry.", value: backlog.held),
      .gauge("doubloon_functions_running", help: "Runs of functions that are under way.", value: backlog.running),
      .gauge("doubloon_function_threads", help: "Threads that run functions.", value: backlog.threads),
      .gauge(
        "doubloon_namespaces_lagging", help: "Namespaces whose events are still to be read from storage.",
        value: backlog.lagging),
    ]
  }

  private var seen: [MetricFamily] {
    (services.watch?.latest ?? .none).families(at: services.database.clock.now())
  }
}
