public import TreeModel

/// A place that a test names: a text such as `"/users/bob/level"`, or a path.
///
/// A text is read when it is used, so that an illegal one fails the test that uses it, and not, as a literal `Path` would,
/// the whole run.
public protocol TestPlace: Sendable {
  /// The path; throws for a text that is none.
  func testPath() throws -> Path
}

extension String: TestPlace {
  /// Reads the text.
  public func testPath() throws -> Path {
    do {
      return try Path(parsing: self)
    } catch {
      throw TestServerError("\"\(self)\" is no path: \(error)")
    }
  }
}

extension Path: TestPlace {
  /// The path itself.
  public func testPath() throws -> Path { self }
}
