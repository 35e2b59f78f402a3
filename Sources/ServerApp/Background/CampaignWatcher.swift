import Logging
import Messages
import ServerConfiguration
import StorageCore
import TreeModel

/// Brings campaigns to what a file says, at the start and whenever it changes: for development, where it is being written.
///
/// What is wrong with the file is told with its places, and changes nothing; so does what conflicts with a published campaign.
struct CampaignWatcher: Sendable {
  /// How often it looks, in milliseconds.
  static let interval: Int64 = 500

  let file: CampaignFile
  let messages: MessageService
  let clock: any WallClock
  let logger: Logger

  /// Looks until the task is cancelled.
  @Sendable func run() async throws {
    var known = file.stamp
    await apply()
    while true {
      try await clock.sleep(until: clock.now() + Self.interval)
      let found = file.stamp
      guard found != known else { continue }
      known = found
      await apply()
    }
  }

  /// Reads the file, and does what it says.
  private func apply() async {
    do {
      let (differences, isApplied) = try await messages.applyWhole(
        try file.read(), prunes: false, isRehearsal: false, by: .system("configuration"))
      for difference in differences { tell(difference, isApplied: isApplied) }
    } catch let error as FileError {
      refuse(error.message)
    } catch MessageError.invalid(let faults) {
      for fault in faults { refuse("\(file.path): \(fault.path): \(fault.message)") }
    } catch {
      refuse("\(file.path): \(error)")
    }
  }

  private func tell(_ difference: CampaignDifference, isApplied: Bool) {
    if difference.action == .conflict {
      refuse("\(file.path): \(difference.id): \(difference.message)")
    } else if isApplied, difference.action != .none {
      logger.notice(
        "a campaign of the file was applied",
        metadata: ["campaign": "\(difference.id)", "what": "\(difference.action.rawValue)"])
    }
  }

  private func refuse(_ why: String) {
    logger.error("the file of campaigns was not applied; campaigns stay as they are", metadata: ["why": "\(why)"])
  }
}
