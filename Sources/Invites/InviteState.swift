/// How far an invitation has come. The order is that of a life.
public enum InviteState: String, Sendable, Hashable, CaseIterable {
  case queued, sent, failed, opened, clicked, converted
}
