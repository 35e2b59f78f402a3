/// Reads captured segments one after the other, each as the type that the path gives it.
struct CaptureReader {
  private let captures: [String]
  private var position = 0

  init(_ captures: [String]) {
    self.captures = captures
  }

  mutating func next<Parameter: PathParameter>(_ type: Parameter.Type) throws(TypeMismatch) -> Parameter {
    guard position < captures.count else { throw TypeMismatch("expected a captured \(type), found none") }
    guard let parameter = Parameter(pathSegment: captures[position]) else {
      throw TypeMismatch("expected \(type) as capture \(position + 1) of the path, found \"\(captures[position].prefix(80))\"")
    }
    position += 1
    return parameter
  }
}
