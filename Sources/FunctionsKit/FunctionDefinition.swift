public import TreeModel

/// A registered function: which events it wants, and how it is run. For the engine.
public struct FunctionDefinition: Sendable {
  /// Which changes at the pattern make an event for the function.
  public enum Trigger: String, Sendable, Hashable {
    case onCreate
    case onUpdate
    case onDelete
    case onWrite
  }

  /// One run's input.
  public struct Run: Sendable {
    /// When, where and by whom.
    public let details: EventDetails
    /// What the pattern's captures matched, in its order.
    public let captures: [String]
    /// The node at the event's path before the commit; absent for a creation.
    public let before: TreeNode
    /// The node at the event's path after the commit; absent for a deletion.
    public let after: TreeNode

    public init(details: EventDetails, captures: [String], before: TreeNode, after: TreeNode) {
      self.details = details
      self.captures = captures
      self.before = before
      self.after = after
    }
  }

  /// What could be written to make the function run, for examples.
  public struct Sample: Sendable {
    /// A path that the pattern matches.
    public let path: Path
    /// A value of the path's type.
    public let value: TreeNode
    /// Another one.
    public let otherValue: TreeNode
  }

  public let name: String
  /// Which kinds of change it wants.
  public let trigger: Trigger
  /// Where it wants them.
  public let pattern: PathPattern
  /// The captures of the pattern that are players: those typed `UserID`.
  public let players: Set<String>
  /// A path that the pattern matches, with values of its type; nil where none can be made up.
  public let sample: @Sendable () -> Sample?
  /// What it turns down without a run.
  public let filter: ChangeFilter
  /// Deadline, order, retries and former names.
  public let options: FunctionOptions
  /// The settings with their values, as a tree; absent if the function has none.
  public let settings: TreeNode
  /// The same as the code has them, without the configuration's overrides.
  public let defaults: TreeNode
  /// What its payments must meet to be made at once, with the configuration's overrides; nil if it declares nothing.
  public let limits: RewardLimits?
  /// Decodes the run's input and calls the author's closure. Input of another type is skipped as `type_mismatch`: trying
  /// again would not change it.
  public let body: @Sendable (Run, FunctionContext) async throws -> Outcome
}

/// Decides from the values alone whether a change concerns a function; what it turns down makes no run at all.
///
/// Filters see leaves: where a map is, before or after, they are given nil.
public struct ChangeFilter: Sendable, CustomStringConvertible {
  /// A change that a filter admits.
  public struct Example: Sendable, Hashable {
    /// The value before.
    public let before: Scalar
    /// The value after.
    public let after: Scalar

    public init(before: Scalar, after: Scalar) {
      self.before = before
      self.after = after
    }
  }

  let admits: @Sendable (_ before: Scalar?, _ after: Scalar?) -> Bool
  public let description: String
  /// How the sentence "It runs on an update" goes on: ` from 4 to 5`, ` rising to 5`; empty if every change is admitted.
  public let words: String
  /// A change that is admitted, where the rule itself names one: what a person would write to make the function run.
  public let example: Example?

  /// Every change.
  public static let any = ChangeFilter(description: "any change", words: "") { _, _ in true }

  /// Exactly this change; 5 and 5.0 are the same number.
  public static func changed(from before: Scalar, to after: Scalar) -> ChangeFilter {
    let rule = "from \(text(before)) to \(text(after))"
    return ChangeFilter(description: rule, words: " \(rule)", example: Example(before: before, after: after)) {
      $0 == before && $1 == after
    }
  }

  /// A number that was below `threshold` and is not any more.
  public static func rising(to threshold: Int64) -> ChangeFilter {
    let example = threshold == .min ? nil : Example(before: .int(threshold - 1), after: .int(threshold))
    return ChangeFilter(description: "rising to \(threshold)", words: " rising to \(threshold)", example: example) {
      before, after in
      guard let before = before?.doubleValue, let after = after?.doubleValue else { return false }
      return before < Double(threshold) && after >= Double(threshold)
    }
  }

  /// A filter of the author's own. It must be pure: it is asked on the path of every write.
  ///
  /// - `description`: the rule in words that can follow "when": `the level doubled`.
  public static func when(
    _ description: String, _ admits: @escaping @Sendable (_ before: Scalar?, _ after: Scalar?) -> Bool
  ) -> ChangeFilter {
    ChangeFilter(description: description, words: ", when \(description)", admits: admits)
  }

  private init(
    description: String, words: String, example: Example? = nil, admits: @escaping @Sendable (Scalar?, Scalar?) -> Bool
  ) {
    self.description = description
    self.words = words
    self.example = example
    self.admits = admits
  }

  /// Whether the function wants to see this change.
  public func callAsFunction(before: Scalar?, after: Scalar?) -> Bool { admits(before, after) }

  /// A value as its author wrote it.
  private static func text(_ scalar: Scalar) -> String {
    String(decoding: TreeNode.leaf(scalar).json(.plain), as: UTF8.self)
  }
}

/// Where a ``FunctionContext`` reads from; the engine provides it.
public protocol FunctionReader: Sendable {
  /// Called at each use of the context: throws if the run was cut off, whatever the function makes of the error.
  func checkRun() throws
  /// The node as of the event's commit: what a replay will see again.
  func nodeAtEvent(_ path: Path) throws -> TreeNode
  /// Whether anything is there as of the event's commit; reads no more than it needs to know that.
  func existsAtEvent(_ path: Path) throws -> Bool
  /// Whether anything was there at a moment, in milliseconds since 1970. Before what the log still holds: when it begins.
  func exists(_ path: Path, at time: Int64) throws -> Bool
  /// Whether a user has an account on this server, as it is now.
  func hasAccount(_ uid: String) throws -> Bool
  /// The node as it is now.
  func latestNode(_ path: Path) throws -> TreeNode
  /// The node just before the event's commit.
  func nodeBeforeEvent(_ path: Path) throws -> TreeNode
  /// A record beside the tree, as it is now.
  func record(_ kind: String, _ key: String) throws -> String?
  /// Records of a kind whose keys begin like this, as they are now; at most 1000.
  func records(_ kind: String, under start: String) throws -> [(key: String, value: String)]
  /// Whether the reward of a code was paid to somebody else who had one of the player's identities, and left or gave it up.
  func wasPaid(_ player: String, _ code: String) throws -> Bool
}

extension FunctionReader {
  public func checkRun() throws {}
}

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// What stops the program: a mistake of the programmer, or of a configuration that nobody has checked.
enum Misuse {
  /// Says what is wrong, and stops. The sentence is written here because a release build drops that of a trap.
  static func stop(_ message: String) -> Never {
    let line = Array("Error: \(message)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    preconditionFailure(message)
  }
}
