package import TreeModel

extension AdminSystem {
  package static let live = Endpoint<LiveQuery, NoBody, JSON>(
    .get, "/admin/v1/live",
    "Tells of commits and of figures as an event stream: hello, revision, stats, bye; by topics also what was touched, events, "
      + "entries, replays, and gaps.",
    isScoped: true, mediaTypes: ["text/event-stream"])

  /// What a client of the live stream can ask for.
  package enum LiveTopic: String, AdminWord, Hashable {
    /// Figures, once a second.
    case stats
    /// Which children of a place were written.
    case touched
    /// Events, as they are when they are told of.
    case events
    /// Entries of the ledger.
    case entries
    /// How far replays are, once a second.
    case replay
  }

  /// What to tell of.
  package struct LiveQuery: AdminValue {
    package var topics: String?
    package var path: String?
    package var function: String?
    package var outcome: AdminEvents.Outcome?
    package var reason: String?
    package var actor: String?
    package var uid: String?

    package init(
      topics: String? = nil, path: String? = nil, function: String? = nil, outcome: AdminEvents.Outcome? = nil,
      reason: String? = nil, actor: String? = nil, uid: String? = nil
    ) {
      self.topics = topics
      self.path = path
      self.function = function
      self.outcome = outcome
      self.reason = reason
      self.actor = actor
      self.uid = uid
    }

    /// The filters as the list of events takes them.
    package var filters: AdminEvents.Query {
      AdminEvents.Query(function: function, outcome: outcome, reason: reason, actor: actor, path: path, uid: uid)
    }

    package static let notes: [String: FieldNote] = AdminEvents.Query.notes.filter { filterNames.contains($0.key) }
      .merging([
        "topics": .only(
          .form("^(stats|touched|events|entries|replay)(,(stats|touched|events|entries|replay)){0,4}$"),
          text: "What to tell of, with commas: stats, touched, events, entries, replay. Without it the stream tells of the "
            + "newest commit's number and of figures."),
        "path": .path("Of touched: the children of this place, / if it is not given; of events: those at this place or below."),
      ]) { $1 }

    private static let filterNames: Set<String> = ["function", "outcome", "reason", "actor", "uid"]
  }
}
