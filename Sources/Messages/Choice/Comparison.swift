package import TreeModel

/// Comparisons of one value, all of which must hold: `{">=": 5}`, or a bare value that it must equal.
package struct Comparison: Sendable, Hashable {
  /// How a value is compared.
  package enum Operator: String, Sendable, Hashable, CaseIterable {
    case equal = "=="
    case unequal = "!="
    case below = "<"
    case atMost = "<="
    case above = ">"
    case atLeast = ">="
    case among = "in"
    case exists
  }

  /// One comparison.
  package struct Term: Sendable, Hashable {
    package let sign: Operator
    package let operand: JSON
  }

  package let terms: [Term]

  /// Whether it holds for a value; nil stands for none.
  package func holds(_ value: JSON?) -> Bool { terms.allSatisfy { Self.holds($0, value) } }

  private static func holds(_ term: Term, _ value: JSON?) -> Bool {
    if term.sign == .exists { return (value != nil) == (term.operand.bool ?? true) }
    guard let value else { return false }
    switch term.sign {
    case .exists: return true
    case .equal: return areEqual(value, to: term.operand)
    case .unequal: return !areEqual(value, to: term.operand)
    case .among: return (term.operand.array ?? []).contains { areEqual(value, to: $0) }
    case .below: return order(value, term.operand).map { $0 < 0 } ?? false
    case .atMost: return order(value, term.operand).map { $0 <= 0 } ?? false
    case .above: return order(value, term.operand).map { $0 > 0 } ?? false
    case .atLeast: return order(value, term.operand).map { $0 >= 0 } ?? false
    }
  }

  private static func areEqual(_ a: JSON, to b: JSON) -> Bool {
    if let order = order(a, b) { return order == 0 }
    return a == b
  }

  /// Below, equal or above: of two numbers, or two texts by their bytes; nil for anything else.
  private static func order(_ a: JSON, _ b: JSON) -> Int? {
    if let x = a.int, let y = b.int { return x < y ? -1 : x > y ? 1 : 0 }
    if let x = a.double, let y = b.double { return x < y ? -1 : x > y ? 1 : 0 }
    if let x = a.string, let y = b.string {
      return x.utf8.lexicographicallyPrecedes(y.utf8) ? -1 : y.utf8.lexicographicallyPrecedes(x.utf8) ? 1 : 0
    }
    return nil
  }

  /// As it is written.
  package var json: JSON {
    if terms.count == 1, terms[0].sign == .equal { return terms[0].operand }
    return .object(terms.map { JSON.Member(key: $0.sign.rawValue, value: $0.operand) })
  }
}

extension Comparison {
  /// What operands may be.
  enum Operands {
    /// Texts, numbers and booleans.
    case any
    case numbers
  }

  /// Reads a bare value or an object of operators; nil, with a fault, if it is neither.
  static func read(_ json: JSON, at path: String, operands: Operands = .any, faults: CampaignFaults) -> Comparison? {
    guard let members = json.object else {
      guard isOperand(json, of: operands) else {
        faults.refuse("WRONG_TYPE", at: path, "It must be a value, or comparisons such as {\">=\": 5}.")
        return nil
      }
      return Comparison(terms: [Term(sign: .equal, operand: json)])
    }
    var terms: [Term] = []
    for member in members {
      guard let sign = Operator(rawValue: member.key) else {
        let names = Operator.allCases.map(\.rawValue).joined(separator: ", ")
        faults.refuse("UNKNOWN_MEMBER", at: DocumentReader.join(path, String(member.key.prefix(40))), "There are \(names).")
        continue
      }
      let isGood: Bool =
        switch sign {
        case .exists: member.value.bool != nil
        case .among:
          member.value.array.map { (1...100).contains($0.count) && $0.allSatisfy { isOperand($0, of: operands) } } ?? false
        default: isOperand(member.value, of: operands)
        }
      guard isGood else {
        faults.refuse("WRONG_TYPE", at: DocumentReader.join(path, sign.rawValue), "It cannot be compared with this.")
        continue
      }
      terms.append(Term(sign: sign, operand: member.value))
    }
    guard !members.isEmpty else {
      faults.refuse("OUT_OF_RANGE", at: path, "It must hold a comparison, such as {\">=\": 5}.")
      return nil
    }
    return Comparison(terms: terms)
  }

  private static func isOperand(_ json: JSON, of operands: Operands) -> Bool {
    switch json {
    case .int, .double: true
    case .string(let text): operands == .any && text.utf8.count <= 1000
    case .bool: operands == .any
    default: false
    }
  }
}

/// A version of numbers between points; what follows the numbers does not count, and missing numbers are 0.
package struct DottedVersion: Sendable, Hashable, Comparable {
  private let numbers: [Int]

  /// - Returns: nil if the text does not begin with a number.
  package init?(_ text: String) {
    var numbers: [Int] = []
    for piece in text.split(separator: ".", omittingEmptySubsequences: false).prefix(8) {
      let digits = piece.utf8.prefix { (0x30...0x39).contains($0) }
      guard let number = Int(String(Substring(digits))) else { break }
      numbers.append(number)
      if digits.count < piece.utf8.count { break }
    }
    guard !numbers.isEmpty else { return nil }
    while numbers.last == 0 { numbers.removeLast() }
    self.numbers = numbers
  }

  package static func < (a: DottedVersion, b: DottedVersion) -> Bool { a.numbers.lexicographicallyPrecedes(b.numbers) }
}

/// Conditions on a version, all of which must hold.
package struct VersionCondition: Sendable, Hashable {
  let terms: [(sign: Comparison.Operator, version: DottedVersion)]

  /// - `version`: the client's; nil if it does not say.
  func holds(_ version: String?) -> Bool {
    guard let version = version.flatMap(DottedVersion.init) else { return false }
    return terms.allSatisfy { sign, operand in
      switch sign {
      case .equal: version == operand
      case .unequal: version != operand
      case .below: version < operand
      case .atMost: version <= operand
      case .above: version > operand
      case .atLeast: version >= operand
      case .among, .exists: false
      }
    }
  }

  /// Reads `{">=": "2.0"}`.
  static func read(_ json: JSON, at path: String, faults: CampaignFaults) -> VersionCondition? {
    guard let members = json.object, !members.isEmpty else {
      faults.refuse("WRONG_TYPE", at: path, "It must be comparisons of versions, such as {\">=\": \"2.0\"}.")
      return nil
    }
    var terms: [(sign: Comparison.Operator, version: DottedVersion)] = []
    for member in members {
      let place = DocumentReader.join(path, String(member.key.prefix(40)))
      guard let sign = Comparison.Operator(rawValue: member.key), sign != .among, sign != .exists else {
        faults.refuse("UNKNOWN_MEMBER", at: place, "There are ==, !=, <, <=, >, >=.")
        continue
      }
      guard let version = member.value.string.flatMap(DottedVersion.init) else {
        faults.refuse("WRONG_TYPE", at: place, "It must be a version as a text, such as \"2.10.1\".")
        continue
      }
      terms.append((sign, version))
    }
    return VersionCondition(terms: terms)
  }

  package static func == (a: VersionCondition, b: VersionCondition) -> Bool {
    a.terms.elementsEqual(b.terms) { $0.sign == $1.sign && $0.version == $1.version }
  }

  package func hash(into hasher: inout Hasher) {
    for term in terms {
      hasher.combine(term.sign)
      hasher.combine(term.version)
    }
  }
}
