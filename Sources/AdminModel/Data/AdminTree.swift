package import TreeModel

/// The tree in windows, and writes that are looked at before they are made.
package enum AdminTree {
  package static let children = Endpoint<ChildrenQuery, NoBody, Children>(
    .get, "/admin/v1/data/children",
    "A window of the children of a node: what each is, its value cut, how many children it has.",
    isScoped: true)
  package static let put = Endpoint<NoQuery, WriteOrder, Written>(
    .put, "/admin/v1/data", "Replaces what stands at a path, if it has not changed since a revision.", access: .admin,
    isScoped: true)
  package static let patch = Endpoint<NoQuery, WriteOrder, Written>(
    .patch, "/admin/v1/data", "Changes several places below a path, all or nothing.", access: .admin, isScoped: true)
  package static let remove = Endpoint<NoQuery, WriteOrder, Written>(
    .delete, "/admin/v1/data", "Removes what stands at a path.", access: .admin, isScoped: true)
  package static let preview = Endpoint<NoQuery, PreviewOrder, Preview>(
    .post, "/admin/v1/data/preview", "What a write would do: leaves, events with their functions, balances. Changes nothing.",
    isScoped: true)
  package static let export = Endpoint<ExportQuery, NoBody, JSON>(
    .get, "/admin/v1/data/export",
    "What stands at a path as one document, with priorities, in the form of an export; the state of one revision.",
    isScoped: true, mediaTypes: ["application/json"])
  package static let take = Endpoint<NoQuery, ImportOrder, Imported>(
    .post, "/admin/v1/data/import",
    "Takes in a part of a document that replaces what stands at a path; a part is one commit, the whole is not.",
    access: .admin, isScoped: true)

  /// Which children of which node are wanted.
  package struct ChildrenQuery: AdminValue {
    package var path: String
    package var order: String?
    package var eq: String?
    package var ge: String?
    package var le: String?
    package var after: String?
    package var before: String?
    package var from: String?
    package var limit: Int64?
    package var revision: Int64?
    package var time: Timestamp?

    package init(
      path: String, order: String? = nil, eq: String? = nil, ge: String? = nil, le: String? = nil, after: String? = nil,
      before: String? = nil, from: String? = nil, limit: Int64? = nil, revision: Int64? = nil, time: Timestamp? = nil
    ) {
      self.path = path
      self.order = order
      self.eq = eq
      self.ge = ge
      self.le = le
      self.after = after
      self.before = before
      self.from = from
      self.limit = limit
      self.revision = revision
      self.time = time
    }

    package static let notes: [String: FieldNote] = [
      "path": .path,
      "order": .only(
        .filled,
        text:
          "By $key (if it is not given), $priority, $value, or the value at a path below the child; children of equal value by key."
      ),
      "eq": .only(
        .filled,
        text: "Only the children whose value in that order is this, as JSON: 5, \"gold\", true, null. Not in the order of $key."
      ),
      "ge": .only(.filled, text: "Only those whose value is this one or comes behind it, as JSON; not together with eq."),
      "le": .only(
        .filled,
        text: "Only those whose value is this one or comes before it, as JSON; children without one come first, "
          + "ge=false leaves them out. Not together with eq."),
      "after": .only(.form(JSONSchema.keyForm), text: "The children behind this key: the next of an earlier window."),
      "before": .only(.form(JSONSchema.keyForm), text: "The last children before this key: the previous of a later window."),
      "from": .only(
        .form(JSONSchema.keyForm), text: "From the first child whose key is this one or comes behind it. By $key only."),
      "limit": .limit(100, max: 200),
      "revision": .text("As of this revision; now if neither is given."),
      "time": .text("As of this time, in milliseconds since 1970."),
    ]
  }

  /// What a child is.
  package enum ChildKind: String, AdminWord, Hashable {
    case leaf
    case node
  }

  /// A child, without what lies below it.
  package struct Child: AdminValue {
    package var key: String
    package var kind: ChildKind
    /// Of a leaf.
    package var value: JSON?
    /// True where the value is the beginning of a longer text.
    package var cut: Bool?
    /// Of the whole text, where it is cut.
    package var bytes: Int64?
    /// Of a node: up to 100, which stands for 100 or more; missing where counting would take too long.
    package var children: Int64?
    package var priority: JSON?
    /// The last commit that changed something here or below; missing where that is not known at once.
    package var revision: Int64?
    /// Of that commit.
    package var time: Timestamp?

    package init(
      key: String, kind: ChildKind, value: JSON? = nil, cut: Bool? = nil, bytes: Int64? = nil, children: Int64? = nil,
      priority: JSON? = nil, revision: Int64? = nil, time: Timestamp? = nil
    ) {
      self.key = key
      self.kind = kind
      self.value = value
      self.cut = cut
      self.bytes = bytes
      self.children = children
      self.priority = priority
      self.revision = revision
      self.time = time
    }

    package static let schemaName: String? = "Child"

    package static let notes: [String: FieldNote] = [
      "value": .text("of a leaf"),
      "cut": .text("true where the value is the beginning of a longer text"),
      "bytes": .text("of the whole text, where it is cut"),
      "children": .text("of a node: up to 100, which stands for 100 or more; missing where counting would take too long"),
      "revision": .text("the last commit that changed something here or below; missing where that is not known at once"),
      "time": .text("of that commit"),
    ]
  }

  /// A window of the children of a node.
  package struct Children: AdminValue {
    package var path: String
    /// Whose tree it is.
    package var revision: Int64
    package var exists: Bool
    /// Where the node itself is a leaf.
    package var value: JSON?
    /// True where the value is the beginning of a longer text.
    package var cut: Bool?
    /// Of the whole text, where it is cut.
    package var bytes: Int64?
    package var priority: JSON?
    package var rows: [Child]
    /// There is more behind: the after of the next window.
    package var next: String?
    /// There is more before: the before of the previous window.
    package var previous: String?
    /// Places of players who left, of which nothing is known: the first of them.
    package var erased: [AdminEvents.ErasedPath]?

    package init(
      path: String, revision: Int64, exists: Bool, value: JSON? = nil, cut: Bool? = nil, bytes: Int64? = nil,
      priority: JSON? = nil, rows: [Child], next: String? = nil, previous: String? = nil,
      erased: [AdminEvents.ErasedPath]? = nil
    ) {
      self.path = path
      self.revision = revision
      self.exists = exists
      self.value = value
      self.cut = cut
      self.bytes = bytes
      self.priority = priority
      self.rows = rows
      self.next = next
      self.previous = previous
      self.erased = erased
    }

    package static let notes: [String: FieldNote] = [
      "revision": .text("whose tree it is"),
      "value": .text("where the node itself is a leaf"),
      "cut": .text("true where the value is the beginning of a longer text"),
      "bytes": .text("of the whole text, where it is cut"),
      "next": .text("there is more behind: the after of the next window"),
      "previous": .text("there is more before: the before of the previous window"),
      "erased": .text("places of players who left, of which nothing is known: the first of them"),
    ]
  }
}
