import StorageCore
import TreeModel

extension ConfigurationReader {
  /// A path of the machine; one that is relative starts from the file's own folder. `{"credential": "NAME"}` is what systemd
  /// hands the service over.
  func path(of key: String) -> String? {
    if let value = value(key), case .object(let members) = value.content {
      guard members.count == 1, members[0].key == "credential", case .string(let name) = members[0].value.content else {
        report(key, message: "\"\(path(key))\" must be a path, or {\"credential\": \"NAME\"}.")
        return nil
      }
      return credential(name, key: key)
    }
    guard let path = text(key).map({ $0.hasPrefix("/") ? $0 : folder + $0 }) else { return nil }
    note(path, key: key)
    return path
  }

  /// Something that does not stand in the file: `{"file": "…"}`, `{"env": "…"}` or `{"credential": "…"}`.
  func secret(_ key: String) -> Secret? {
    guard let value = value(key) else { return nil }
    guard case .object(let members) = value.content, members.count == 1, let member = members.first,
      case .string(let name) = member.value.content, !name.isEmpty
    else { return refuseSecret(key) }
    switch member.key {
    case "file":
      let file = name.hasPrefix("/") ? name : folder + name
      note(file, key: key)
      return secret(key, from: file, named: name)
    case "env":
      noteEnvironment(key)
      if let text = surroundings.variable(name), !text.isEmpty { return Secret(text) }
      report(key, message: "\"\(path(key))\": the variable \(name) of the environment is not set.")
      return nil
    case "credential": return credential(name, key: key).flatMap { secret(key, from: $0, named: name) }
    default: return refuseSecret(key)
    }
  }

  private func refuseSecret(_ key: String) -> Secret? {
    report(
      key,
      message: "\"\(path(key))\" is a secret, which does not stand in this file: write {\"file\": \"path\"}, "
        + "{\"env\": \"NAME\"} or {\"credential\": \"NAME\"}.")
    return nil
  }

  /// Where systemd has put a credential: https://systemd.io/CREDENTIALS.
  private func credential(_ name: String, key: String) -> String? {
    guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else {
      report(key, message: "\"\(path(key))\": \"\(name)\" is no credential's name; it has no slash.")
      return nil
    }
    guard let folder = surroundings.variable("CREDENTIALS_DIRECTORY") else {
      report(
        key,
        message:
          "\"\(path(key))\": there are no credentials: CREDENTIALS_DIRECTORY is not set. systemd sets it for a unit with "
          + "LoadCredential=; by hand set it to a folder that holds \(name).")
      return nil
    }
    return "\(folder)/\(name)"
  }

  private func secret(_ key: String, from file: String, named name: String) -> Secret? {
    do {
      let bytes = try surroundings.file(file)
      warnIfOpen(file, key: key)
      // Editors end a file with a line break, which is not part of the secret.
      guard let text = String(validating: bytes, as: UTF8.self)?.split(whereSeparator: \.isNewline), text.count == 1 else {
        report(key, message: "\"\(path(key))\": the file \(name) must hold the secret on one line, and nothing else.")
        return nil
      }
      return Secret(String(text[0]))
    } catch {
      report(key, message: "\"\(path(key))\": \(error.message)")
      return nil
    }
  }
}
