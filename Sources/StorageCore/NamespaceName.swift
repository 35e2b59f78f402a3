/// The name of a namespace: what clients put into `ns`, or into the first label of the host's name.
public enum NamespaceName {
  /// The longest name, in bytes; the letters allowed take one each.
  public static let lengthMax = 64

  /// Whether a namespace may have this name: letters, digits and hyphens, as in a host's label.
  public static func isLegal(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { utf8 in
      !utf8.isEmpty && utf8.count <= lengthMax
        && utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 }
    }
  }
}
