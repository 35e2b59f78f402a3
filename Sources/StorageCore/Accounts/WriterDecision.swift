public import TreeModel

/// A part of a request that is decided on the writer, on the state that the request is applied to: what has to look before
/// it writes, with nothing in between.
///
/// It reads and puts rows through the session, all of which are taken back if it throws, and returns what it writes below
/// ``TreeModel/Key/accounts`` or anywhere else in the tree. It must be quick, wait for nothing, and bear to be called again
/// for a request that is rehearsed.
public protocol WriterDecision: AnyObject, Sendable {
  func decide(in namespace: NamespaceID, at time: Int64, _ session: any WriteSession) throws(CommitRefusal)
    -> [WriteOperation.Assignment]
}
