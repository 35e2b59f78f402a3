import ArgumentParser

/// `doubloon replay pause`.
struct ReplayPauseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Stop a replay after what is on its way; \"resume\" goes on.",
    discussion: """
      Examples:
        doubloon replay pause 3
      """)

  @OptionGroup
  var step: ReplayStep

  func run() async throws { try await step.take("pause") }
}
