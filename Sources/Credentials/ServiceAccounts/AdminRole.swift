/// What a service account may do (design §8). Each role may all that the ones before it may.
public enum AdminRole: String, Sendable, Hashable, CaseIterable, Comparable {
  /// Reads.
  case viewer
  /// Repairs: replays, reversals, resumed functions, holds that end.
  case support
  /// Everything, the tree past its rules included.
  case admin

  public static func < (left: AdminRole, right: AdminRole) -> Bool { left.rank < right.rank }

  private var rank: Int {
    switch self {
    case .viewer: 0
    case .support: 1
    case .admin: 2
    }
  }
}
