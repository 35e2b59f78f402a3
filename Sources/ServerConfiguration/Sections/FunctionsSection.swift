import FunctionsKit
import TreeModel

/// `functions`: settings of the deployment's functions, by function and setting.
package struct FunctionsSection: ConfigurationSection {
  let settings: TreeNode

  /// Asks for every function that is registered, and checks its settings against the defaults in its code.
  package init(_ reader: ConfigurationReader) {
    let names = Self.registered(reader).definitions.map(\.name)
    var members: [JSON.Member] = []
    for name in names {
      guard let value = reader.value(name) else { continue }
      guard case .object = value.content else {
        reader.report(name, message: "\"\(reader.path(name))\" must be an object of settings, not \(value.kind).")
        continue
      }
      members.append(JSON.Member(key: name, value: value.json))
    }
    do {
      settings = try TreeNode(json: .object(members))
    } catch {
      settings = .absent
      reader.diagnostics.add(ConfigurationError(at: reader.position, "The settings cannot be read: \(error)"))
    }
    let registered = Self.registered(reader, settings: settings)
    // What is wrong in the code keeps the server from starting as much as what is wrong in the file.
    for mistake in registered.mistakes { reader.diagnostics.add(ConfigurationError(at: reader.position, mistake)) }
    for error in registered.settingErrors {
      let value = reader.value(error.function)
      let position = error.setting.flatMap { value?[$0]?.position } ?? value?.position ?? reader.position
      reader.diagnostics.add(ConfigurationError(at: position, error.message))
    }
  }

  /// The functions with these settings; what is wrong with the settings is gathered, not fatal.
  private static func registered(_ reader: ConfigurationReader, settings: TreeNode = .absent) -> Functions {
    let functions = Functions(checking: settings)
    reader.surroundings.functions(functions)
    return functions
  }
}
