import ClientRuntime
import Foundation
import TextFormats

/// The pictures of a message, loaded before it shows.
struct MessagePictures: Sendable {
  /// A picture has a second or two of a slow line, not a minute.
  private static let timeout: Int64 = 10_000
  private static let bytesMax = 5 << 20

  /// The only one, or that for upright screens.
  var main: Data?
  /// For wide screens.
  var landscape: Data?

  /// Loads both at once. Without the first there is no message; without the second there is.
  static func load(
    _ content: MessageCampaign.Content, by runtime: AppRuntime
  ) async -> Result<MessagePictures, InAppMessagingDisplayRenderError> {
    async let wide = load(content.landscapeImage, by: runtime)
    switch await load(content.image, by: runtime) {
    case .success(let main): return .success(MessagePictures(main: main, landscape: try? await wide.get()))
    case .failure(let error): return .failure(error)
    }
  }

  private static func load(
    _ url: String?, by runtime: AppRuntime
  ) async -> Result<Data?, InAppMessagingDisplayRenderError> {
    guard let url else { return .success(nil) }
    guard let server = ServiceAddress(url), let parts = URLComponents(string: url) else { return .failure(.imageNotLoaded) }
    let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
    let target = path + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
    let request = HTTPRequest("GET", target, at: server, timeout: timeout, responseBytesMax: bytesMax)
    guard let response = await response(to: request, by: runtime), response.status == 200 else {
      return .failure(.imageNotLoaded)
    }
    guard response["content-type"]?.lowercased().hasPrefix("image/") == true, !response.body.isEmpty else {
      return .failure(.imageDataInvalid)
    }
    return .success(Data(response.body))
  }

  /// What the network brings; nil if it brings nothing, or takes longer than a picture may, by the app's clock.
  private static func response(to request: HTTPRequest, by runtime: AppRuntime) async -> HTTPResponse? {
    await withTaskGroup(of: HTTPResponse?.self) { group in
      group.addTask { try? await runtime.http.send(request) }
      group.addTask {
        try? await runtime.clock.sleep(milliseconds: timeout)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }
}

extension InAppMessagingDisplayMessage {
  /// The message of a campaign, as components draw it.
  static func make(_ display: MessageModel.Display, pictures: MessagePictures) -> InAppMessagingDisplayMessage {
    switch display.campaign.content.type {
    case .modal: InAppMessagingModalDisplay(display, pictures: pictures)
    case .banner: InAppMessagingBannerDisplay(display, pictures: pictures)
    case .card: InAppMessagingCardDisplay(display, pictures: pictures)
    case .imageOnly: InAppMessagingImageOnlyDisplay(display, pictures: pictures)
    }
  }

  /// What following the message means where a component does not say by which of its actions.
  var firstAction: InAppMessagingAction {
    actions.first ?? InAppMessagingAction(actionText: nil, actionURL: nil, role: .message)
  }

  /// What can be followed, in the order of reading. An action without a URL closes the message.
  public var actions: [InAppMessagingAction] {
    func action(_ part: (button: InAppMessagingActionButton, url: URL?)?, as role: InAppMessagingAction.Role)
      -> [InAppMessagingAction]
    {
      part.map { [InAppMessagingAction(actionText: $0.button.buttonText, actionURL: $0.url, role: role)] } ?? []
    }
    switch self {
    case let card as InAppMessagingCardDisplay:
      return action(card.primary, as: .primary) + action(card.secondary, as: .secondary)
    case let modal as InAppMessagingModalDisplay: return action(modal.action, as: .primary)
    case let banner as InAppMessagingBannerDisplay:
      return banner.actionURL.map { [InAppMessagingAction(actionText: nil, actionURL: $0, role: .message)] } ?? []
    case let picture as InAppMessagingImageOnlyDisplay:
      return picture.actionURL.map { [InAppMessagingAction(actionText: nil, actionURL: $0, role: .message)] } ?? []
    default: return []
    }
  }
}
