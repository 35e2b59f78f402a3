package import HTTPServer
package import NIOHTTP1
import TreeModel

extension TreeRoutes {
  /// Bytes that `writeSizeLimit=unlimited` allows an administrator (Firebase's REST reference, `writeSizeLimit`).
  static let unlimitedBytes = 256 << 20

  /// How much body a request may bring, before it is read; nil for the usual limit.
  ///
  /// What is refused whatever the data are, because of its address, its credentials or the rules, is refused before it can fill
  /// memory: of its body no more is read than anybody may send.
  package func bodyLimit(for head: HTTPRequestHead, _ target: RequestTarget) -> BodyLimit? {
    do throws(APIError) {
      let request = HTTPRequest(method: head.method, uri: head.uri, headers: head.headers)
      let call = try TreeRequest(request, target, services: services)
      if call.isRead { return BodyLimit(bytesMax: RequestRouter.openBytesMax) }
      if call.parameters.isUnlimited { return BodyLimit(bytesMax: Self.unlimitedBytes) }
      guard mightWrite(call) else { throw .permissionDenied }
      return nil
    } catch {
      return BodyLimit(bytesMax: RequestRouter.openBytesMax, refusal: error.treeResponse)
    }
  }

  /// Whether the rules could allow a write, as far as that can be known without the data.
  func mightWrite(_ call: TreeRequest) -> Bool {
    // An update names places below, and so does a name that is yet to be made.
    let below = call.method == .patch || call.method == .post
    return services.access.mightWrite(call.target.path, below: below, in: call.namespace, as: call.caller)
  }
}
