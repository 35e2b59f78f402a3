import APISupport
import Messages

extension MessageService {
  /// What happened with messages since the start, for the metrics.
  var families: [MetricFamily] {
    let totals = totals
    return [
      .counter("doubloon_messages_served_total", help: "Messages that were handed to apps.", value: totals.served),
      .counter("doubloon_messages_impressions_total", help: "Displays that apps have reported.", value: totals.impressions),
      .counter("doubloon_messages_clicks_total", help: "Clicks that apps have reported.", value: totals.clicks),
      .counter("doubloon_messages_errors_total", help: "Messages that apps could not show.", value: totals.errors),
      .counter(
        "doubloon_messages_unknown_total", help: "Reports about campaigns and installations that are not known.",
        value: totals.unknown),
      .gauge("doubloon_messages_streams", help: "Apps that are told of messages at once.", value: hub.count),
      .gauge(
        "doubloon_messages_events_pending", help: "Events that wait to be shown to their players, counted once a minute.",
        value: totals.pending),
    ]
  }
}
