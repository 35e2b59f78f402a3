import Glibc

/// Who may read and write a file.
public enum FileMode {
  /// The lower nine bits; 0 if there is no such file.
  public static func of(_ path: String) -> UInt32 {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }
}
