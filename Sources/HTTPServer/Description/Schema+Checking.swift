package import TreeModel

extension Schema {
  /// What is wrong with a value, as a sentence; nil if nothing is.
  ///
  /// - Parameters:
  ///   - place: what the value is called: `"amount"`, `limit`.
  ///   - names: what ``named(_:)`` means; any value where it is not said.
  package func fault(in value: JSON, at place: String, names: [String: Schema] = [:]) -> String? {
    switch self {
    case .any: return nil
    case .named(let name): return names[name].flatMap { $0.fault(in: value, at: place, names: names) }
    case .boolean: return value.bool == nil ? "\(place) must be true or false." : nil
    case .integer(let range):
      guard let number = value.int else { return "\(place) must be an integer." }
      return range.contains(number) ? nil : Self.fault(place, outside: range)
    case .text, .form: return value.string == nil ? "\(place) must be a text." : nil
    case .filled: return value.string?.isEmpty == false ? nil : "\(place) must be a text that is not empty."
    case .choice(let texts):
      return value.string.map(texts.contains) == true ? nil : "\(place) must be one of \(texts.joined(separator: ", "))."
    case .list(let element):
      guard let elements = value.array else { return "\(place) must be a list." }
      return elements.lazy.compactMap { element.fault(in: $0, at: "An element of \(place)", names: names) }.first
    case .object(let fields, let isClosed): return Self.fault(in: value, at: place, fields, isClosed, names)
    case .nullable(let schema): return value.isNull ? nil : schema.fault(in: value, at: place, names: names)
    }
  }

  /// What is wrong with a parameter's text; nil if nothing is.
  package func fault(inParameter text: String, at place: String) -> String? {
    switch self {
    case .integer(let range):
      guard let number = Int64(text) else { return "\(place) must be an integer." }
      return range.contains(number) ? nil : Self.fault(place, outside: range)
    case .boolean: return ["true", "false"].contains(text) ? nil : "\(place) must be true or false."
    default: return fault(in: .string(text), at: place)
    }
  }

  private static func fault(_ place: String, outside range: ClosedRange<Int64>) -> String {
    if range.upperBound == .max { return "\(place) must be \(range.lowerBound) or more." }
    return "\(place) must be \(range.lowerBound) to \(range.upperBound)."
  }

  private static func fault(in value: JSON, at place: String, _ fields: [Field], _ isClosed: Bool, _ names: [String: Schema])
    -> String?
  {
    guard let members = value.object else { return "\(place) must be a JSON object." }
    for field in fields {
      guard let member = value[field.name] else {
        if field.isRequired { return "\"\(field.name)\" is missing: \(field.text.isEmpty ? "it must be there" : field.text)." }
        continue
      }
      // A member that may be missing may as well be null.
      if !field.isRequired, member.isNull { continue }
      if let fault = field.schema.fault(in: member, at: "\"\(field.name)\"", names: names) { return fault }
    }
    guard isClosed, let stranger = members.first(where: { member in !fields.contains { $0.name == member.key } }) else {
      return nil
    }
    let known = fields.isEmpty ? "nothing" : fields.map(\.name).joined(separator: ", ")
    return "\"\(stranger.key.prefix(80))\" means nothing here; the body takes \(known)."
  }
}
