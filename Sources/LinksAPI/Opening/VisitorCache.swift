import Links
import Synchronization

/// Remembers what user agents tell: there are few, and each opening brings one.
final class VisitorCache: Sendable {
  private static let agentsMax = 4096
  private let known = Mutex<[String: LinkVisitor]>([:])

  func visitor(_ agent: String) -> LinkVisitor {
    // A text that nobody's browser sends is not worth remembering.
    guard agent.utf8.count <= 512 else { return LinkVisitor(userAgent: agent) }
    return known.withLock { known in
      if let visitor = known[agent] { return visitor }
      let visitor = LinkVisitor(userAgent: agent)
      if known.count >= Self.agentsMax { known.removeAll(keepingCapacity: true) }
      known[agent] = visitor
      return visitor
    }
  }
}
