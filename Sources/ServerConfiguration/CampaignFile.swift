package import TreeModel

/// A file of campaigns, `{"campaigns": [ … ]}` with comments, that a server in development looks at while it is being written.
package struct CampaignFile: Sendable, Hashable {
  /// From the root.
  package let path: String

  /// - `path`: from the working folder, or from the root.
  package init(_ path: String) {
    self.path = FileBytes.absolute(path)
  }

  /// What tells one state of the file from another; empty while it is not there.
  package var stamp: [Int64] { FileBytes.stamp(path) }

  /// What the file says.
  ///
  /// - Throws: ``FileError`` with `FILE:LINE:COLUMN: text` for what is no JSON.
  package func read() throws(FileError) -> JSON {
    let source = try FileBytes.read(path)
    do throws(ConfigurationError) {
      return try ConfigurationScanner.value(of: source).json
    } catch {
      throw FileError("\(path):\(error)")
    }
  }
}
