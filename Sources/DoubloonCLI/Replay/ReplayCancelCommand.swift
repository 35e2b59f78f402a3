import ArgumentParser

/// `doubloon replay cancel`.
struct ReplayCancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "End a replay after what is on its way.",
    discussion: """
      Examples:
        doubloon replay cancel 3
      """)

  @OptionGroup
  var step: ReplayStep

  func run() async throws { try await step.take("cancel") }
}
