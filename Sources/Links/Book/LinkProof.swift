/// A link that an app or a player presents, found, with the proof of a click if one came along.
struct LinkProof: Sendable {
  let parameters: LinkParameters
  let prefix: LinkPrefix
  /// The record, if it is a short link.
  let record: LinkRecord?
  /// The proof of a click; nil if none came along, or it was not good.
  let click: ClickToken?
  /// Whether something came along that should have been a proof.
  let hasBadClick: Bool

  /// The long form of the link.
  var longLink: String { parameters.longLink(below: prefix) }
  /// What is counted; nil for a long link.
  var key: String? { record?.key }
}
