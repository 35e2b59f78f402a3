import Messages
import TreeModel

/// `messages`: what is set about in-app messages, and the file of the campaigns that are to be there.
struct MessagesSection {
  let settings: MessageSettings
  /// What the file `campaigns` says; nil where none is named.
  let campaigns: JSON?
  /// The pictures of the folder `images`.
  let images: [MessageImageFile]

  /// - Returns: nil where the configuration does not have it.
  init?(of reader: ConfigurationReader) {
    guard let value = reader.value("messages") else { return nil }
    guard let members = value.json.object else {
      reader.report("messages", message: "\"messages\" must be an object.")
      return nil
    }
    let file = members.last { $0.key == "campaigns" }?.value
    campaigns = file.flatMap { Self.campaigns($0, reader) }
    images = members.last { $0.key == "images" }.map { Self.images($0.value, reader) } ?? []
    do {
      settings = try MessageSettings(json: .object(members.filter { !["campaigns", "images"].contains($0.key) }))
    } catch {
      reader.report("messages", message: "The settings of messages cannot be used: \(error)")
      settings = MessageSettings()
    }
  }

  private static func images(_ json: JSON, _ reader: ConfigurationReader) -> [MessageImageFile] {
    guard let name = json.string, !name.isEmpty else {
      reader.report("messages", message: "\"messages.images\" must be the path of a folder with pictures.")
      return []
    }
    let path = name.hasPrefix("/") ? name : reader.folder + name
    reader.note(path, key: "messages")
    let folder = MessageImageFolder(path)
    for problem in folder.problems { reader.report("messages", message: problem) }
    return folder.files
  }

  private static func campaigns(_ json: JSON, _ reader: ConfigurationReader) -> JSON? {
    guard let name = json.string, !name.isEmpty else {
      reader.report("messages", message: "\"messages.campaigns\" must be the path of a file.")
      return nil
    }
    let path = name.hasPrefix("/") ? name : reader.folder + name
    do {
      return try ConfigurationScanner.value(of: try reader.surroundings.file(path)).json
    } catch {
      reader.report("messages", message: "The campaigns of \(path) cannot be read: \(error)")
      return nil
    }
  }
}
