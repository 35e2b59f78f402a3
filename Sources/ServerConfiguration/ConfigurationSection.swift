/// A part of the configuration that belongs to one room: typed, with its defaults, its checks and its sentences.
///
/// To add one: a struct with an `init(_ reader:)` that asks the reader for each of its settings, and a line in
/// ``ServeConfiguration``. What a section does not ask for is refused as unknown; faults are collected, not thrown, so a
/// section goes on with a default and every fault of the file is listed at once.
package protocol ConfigurationSection: Sendable {
  /// Reads the section. A section that the file does not have is read from an empty object.
  init(_ reader: ConfigurationReader)
}
