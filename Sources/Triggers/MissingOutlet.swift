/// A message for an outlet that this server does not have. It is tried again: the next start may bring the outlet.
struct MissingOutlet: Error, CustomStringConvertible {
  let name: String

  var description: String { "No outlet is called \"\(name)\". Configure one, or correct who sends to it." }
}
