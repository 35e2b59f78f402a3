import CBuild

/// Which program this is: the version of the sources, and the commit that they were built from.
enum ProgramVersion {
  /// As semantic versioning has it. Packages are named after what the program says.
  static let number = "0.1.0-dev"

  private static let commit = String(cString: cbuild_commit())

  /// What `doubloon --version` prints.
  static let text = text(commit: commit)

  /// What the metrics say of it.
  static let build = (version: number, commit: commit.isEmpty ? "unknown" : commit)

  /// - Parameter commit: its hexadecimal digits; empty where the build was not told.
  static func text(commit: String) -> String {
    "doubloon \(number) (" + (commit.isEmpty ? "of no commit: Scripts/release builds with one" : "commit \(commit.prefix(12))")
      + ")"
  }
}
