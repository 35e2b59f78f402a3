/// What an administrator changes about a short link; what is nil stays as it is.
public struct LinkEdit: Sendable, Hashable {
  /// What it is called from now on; an inner nil takes the name away.
  public var name: String??
  /// Parameters of the long link, and what each says from now on; nil takes it away.
  public var parameters: [LinkParameter: String?]
  /// Whether it is switched off.
  public var isDisabled: Bool?

  public init(name: String?? = nil, parameters: [LinkParameter: String?] = [:], isDisabled: Bool? = nil) {
    self.name = name
    self.parameters = parameters
    self.isDisabled = isDisabled
  }
}
