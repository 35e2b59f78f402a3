import ArgumentParser

/// `doubloon data`: the tree, read and written as an administrator.
struct DataCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "data",
    abstract: "Read and write the tree.",
    discussion: """
      Paths are written like /users/bob; / is the whole tree. Values are JSON: a text needs its double quotes.

      Examples:
        doubloon data get /users/bob --pretty
        doubloon data set /users/bob/level 5
        doubloon data export / backup.json
        doubloon data get /users/bob --at yesterday
        doubloon data diff /users/bob --from 12h
        doubloon data log /users/bob/level
      """,
    subcommands: [
      DataGetCommand.self, DataSetCommand.self, DataUpdateCommand.self, DataRemoveCommand.self, DataImportCommand.self,
      DataExportCommand.self, DataDiffCommand.self, DataLogCommand.self,
    ])
}
