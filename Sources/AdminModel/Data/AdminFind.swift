import TreeModel

/// The search over everything that has a name or a number.
package enum AdminFind {
  package static let find = Endpoint<Query, NoBody, Hits>(
    .get, "/admin/v1/find",
    "What a text names: a player, an account, an event, an entry, a path, a short link or its code; at most ten, each by one look-up.",
    isScoped: true)

  /// What is looked for.
  package struct Query: AdminValue {
    package var q: String

    package init(q: String) {
      self.q = q
    }

    package static let notes: [String: FieldNote] = [
      "q": .only(
        .filled,
        text:
          "A uid, an e-mail address, an event's id, an entry's number (#12) or business key, a path (/users/bob), a short link, an invitation code."
      )
    ]
  }

  /// What was found.
  package enum Kind: String, AdminWord, Hashable {
    case player
    case account
    case event
    case entry
    case path
    case link
  }

  /// One thing that the text names.
  package struct Hit: AdminValue {
    package var kind: Kind
    /// What its own route takes: a uid, an event's id, an entry's number, a path, a link.
    package var id: String
    package var title: String
    package var detail: String?

    package init(kind: Kind, id: String, title: String, detail: String? = nil) {
      self.kind = kind
      self.id = id
      self.title = title
      self.detail = detail
    }

    package static let notes: [String: FieldNote] = [
      "id": .text("what its own route takes: a uid, an event's id, an entry's number, a path, a link")
    ]
  }

  /// What a text names.
  package struct Hits: AdminValue {
    package var hits: [Hit]

    package init(hits: [Hit]) {
      self.hits = hits
    }
  }
}
