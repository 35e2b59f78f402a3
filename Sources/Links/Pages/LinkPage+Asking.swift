extension LinkPage {
  /// The page for a browser that says it is a Mac and may be an iPad: whether the screen is touched tells, and the page goes on
  /// to the same link with the answer. Without JavaScript it is a Mac.
  ///
  /// - Parameter query: of the URL that was asked for, as it was sent; all else of the URL stays by itself.
  public static func asking(_ query: String, in phrases: LinkPhrases) -> LinkPage {
    let bare = query.isEmpty ? "?" : "?\(query)&"
    let desktop = HTMLText.escape(bare + "_ipad=0")
    return LinkPage(
      title: phrases.goOn, language: phrases.language,
      head: "<noscript><meta http-equiv=\"refresh\" content=\"0;url=\(desktop)\"></noscript>\n",
      body: """
        <main><div class="card"><div class="inside"><a class="button" id="go" rel="noreferrer" \
        data-ipad="\(HTMLText.escape(bare + "_ipad=1"))" href="\(desktop)">\(HTMLText.escape(phrases.goOn))</a></div></div></main>
        """, script: askingScript)
  }

  private static let askingScript = """
    (function(){var go=document.getElementById('go');\
    location.replace(navigator.maxTouchPoints>1?go.getAttribute('data-ipad'):go.href)})();
    """
}
