import AdminClient
import AdminModel
import ArgumentParser

/// `doubloon messages images`: pictures that the server serves.
struct MessagesImagesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "images",
    abstract: "List the pictures that the server itself serves, with the addresses for campaigns.",
    discussion: """
      They are the files of the folder that the configuration names as messages.images, as they were at the start.

      Examples:
        doubloon messages images
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.call(AdminMessages.images, namespace: server.namespace)
    }
    output.print(answer, Self.text)
  }

  static func text(_ list: AdminMessages.ImageList) -> String {
    var table = TextTable([.text("NAME"), .text("TYPE"), .number("BYTES"), .text("ADDRESS")])
    for image in list.images { table.add([image.name, image.type, image.bytes.grouped, image.address]) }
    return table.isEmpty ? "The server has no pictures; name a folder as messages.images in its configuration." : table.render()
  }
}
