/// The number that a namespace's rows carry. A namespace's name is looked up once, at the door.
public struct NamespaceID: RawRepresentable, Sendable, Hashable {
  public let rawValue: Int64

  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }
}
