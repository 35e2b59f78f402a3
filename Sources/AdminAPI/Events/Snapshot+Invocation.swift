import HTTPServer
package import StorageCore

extension Snapshot {
  /// The run by hand that an event's id stands for; nil if it is none.
  package func invocation(in namespace: NamespaceID, of event: EventID) throws(StorageError) -> InvocationRecord? {
    guard event.epoch == 0, event.revision.rawValue < Schema.countMax else { return nil }
    let found = try invocations(in: namespace, before: event.revision.rawValue + 1, limit: 1).first
    return found?.event == event ? found : nil
  }
}
