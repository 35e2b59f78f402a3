import ArgumentParser

/// `doubloon replay resume`.
struct ReplayResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Go on with a replay that was paused, or that failed.",
    discussion: """
      Examples:
        doubloon replay resume 3
      """)

  @OptionGroup
  var step: ReplayStep

  func run() async throws { try await step.take("resume") }
}
