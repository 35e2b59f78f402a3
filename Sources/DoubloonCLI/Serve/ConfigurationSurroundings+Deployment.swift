import ServerConfiguration

extension ConfigurationSurroundings {
  /// The process's own, with the functions that the command line was started with.
  static var deployment: ConfigurationSurroundings {
    var surroundings = process
    surroundings.functions = DoubloonCommandLine.functions.register
    return surroundings
  }
}
