import ServerApp
public import Triggers

extension TestServer {
  /// Lets the process die at a named place while `body` runs, and starts again from what it left on the disk.
  ///
  /// The disk is copied at the moment the place is reached, and the rest of the test goes on from that copy: whatever the
  /// first life did afterwards has never happened. What was committed before the place is there, in the file or its log.
  ///
  /// - Throws: ``TestServerError`` if `body` never comes by the place.
  public func crash(at place: Failpoint.Place, during body: () async throws -> Void) async throws {
    trigger.arm(place, copying: folder)
    try await body()
    guard let result = trigger.disarm() else {
      throw TestServerError("The crash at \(place) never happened: nothing came by. Check that the write makes a function run.")
    }
    try await restart(in: try result.get())
    try await application.settle()
  }
}
