/// What the pages of links say, in one language.
public struct LinkPhrases: Sendable {
  /// Its code, for the page's `lang`.
  public let language: String
  /// The title of a link that says none; `{{app}}` stands for the app's name.
  let invitation: String
  let words: String
  let save: String
  let saveDetail: String
  let get: String
  let goOn: String
  let open: String
  let code: String
  /// What an app is called of which nothing is known.
  let anApp: String
  let unknown: Fault
  let invalid: String
  let disabled: Fault
  let deleted: Fault
  let debug: Debug

  /// Why nothing opens; `{{link}}` stands for the link.
  struct Fault: Sendable {
    let heading: String
    let text: String
  }

  /// What the page of `d=1` says.
  struct Debug: Sendable {
    let title: String
    let heading: String
    let platforms: String
    let desktop: String
    let crawler: String
    /// Before what happens without the app; `{{app}}` stands for it.
    let app: String
    /// `{{url}}` stands for where the preview page leads.
    let preview: String
    let card: String
    let findings: String
    let nothing: String
    let error: String
    let parameters: String
  }

  /// The first of these languages that pages are written in; English if there is none.
  ///
  /// - Parameter locales: such as `de-AT`, the best first.
  public static func chosen(from locales: [String]) -> LinkPhrases {
    for locale in locales {
      let language = locale.split { $0 == "-" || $0 == "_" }.first.map { $0.lowercased() } ?? ""
      if let phrases = all[language] { return phrases }
    }
    return english
  }

  /// By language; the languages of invitations.
  static let all: [String: LinkPhrases] = Dictionary(
    uniqueKeysWithValues: [english, german, french, spanish, japanese].map { ($0.language, $0) })
}
