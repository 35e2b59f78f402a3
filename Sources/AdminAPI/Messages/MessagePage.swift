import TextFormats
import TreeModel

/// How a message appears, as a page that stands alone: what `doubloon messages preview --to` writes.
///
/// It is made of the same view as an app's drawing. Nothing in it runs, and its texts are texts, whatever they hold.
struct MessagePage {
  /// What apps draw, as the domain tells it.
  let view: JSON
  /// Of the screen, in points; nil where the browser's window is the screen.
  var width: Int?

  /// The page.
  var html: String {
    let language = text("language") ?? "en"
    return """
      <!DOCTYPE html>
      <html lang="\(HTMLText.escaped(language))" dir="\(text("direction") == "rtl" ? "rtl" : "ltr")">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="referrer" content="no-referrer">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src https:">
      <title>\(HTMLText.escaped(text("title") ?? "Preview"))</title>
      <style>\(Self.style)\(screen)\(colors)</style>
      </head>
      <body>
      <main class="\(layout)"\(layout == "banner" ? "" : " role=\"dialog\"") aria-label="\(HTMLText.escaped(label))">
      \(pictures)<div class="words">
      \(paragraph("title", as: "h1"))\(paragraph("body", as: "p"))</div>
      <div class="buttons">
      \(buttons)</div>
      </main>
      </body>
      </html>

      """
  }

  private var layout: String {
    let known = ["banner", "card", "modal", "imageOnly"]
    return text("layout").flatMap { known.contains($0) ? $0 : nil } ?? "modal"
  }

  private func text(_ name: String) -> String? { view[name]?.string }

  private var label: String { view["accessibility"]?["label"]?.string ?? text("title") ?? "" }

  private func paragraph(_ name: String, as element: String) -> String {
    text(name).map { "<\(element)>\(HTMLText.escaped($0))</\(element)>\n" } ?? ""
  }

  private var pictures: String {
    (view["images"]?.array ?? []).map { image in
      let address = HTMLText.escaped(image["url"]?.string ?? "")
      let words = HTMLText.escaped(image["alt"]?.string ?? "")
      // What a screen of this width does not show, the view has not.
      let side = width == nil ? image["orientation"]?.string ?? "any" : "any"
      return "<img class=\"\(["portrait", "landscape"].contains(side) ? side : "any")\" src=\"\(address)\" alt=\"\(words)\">\n"
    }.joined()
  }

  private var buttons: String {
    (view["buttons"]?.array ?? []).map { button in
      let role = button["role"]?.string ?? ""
      let isClose = role == "close"
      let words = HTMLText.escaped(isClose ? "×" : button["text"]?.string ?? "")
      let name = isClose ? " aria-label=\"\(HTMLText.escaped(button["text"]?.string ?? "Close"))\"" : ""
      let shape = ["primary", "secondary", "close"].contains(role) ? role : "primary"
      guard let address = button["action"]?.string, address.hasPrefix("https://") || address.hasPrefix("http://") else {
        return "<button class=\"\(shape)\"\(name)>\(words)</button>\n"
      }
      return "<a class=\"\(shape)\" href=\"\(HTMLText.escaped(address))\" rel=\"noopener noreferrer\"\(name)>\(words)</a>\n"
    }.joined()
  }

  /// A screen of the width that was asked for, in the middle of the window.
  private var screen: String {
    guard let width else { return "" }
    return "body{width:\(width)px;margin:0 auto;outline:1px dashed #fff}main,main.banner{max-width:\(width * 92 / 100)px}"
  }

  /// The campaign's colours as variables of the style.
  private var colors: String {
    let all = view["colors"]?.object ?? []
    let lines = all.compactMap { member in
      Self.hex(member.value.string).map { "--\(member.key.filter(\.isLetter)):\($0);" }
    }
    let own = (view["buttons"]?.array ?? []).compactMap { button -> String? in
      guard let role = button["role"]?.string, ["primary", "secondary"].contains(role) else { return nil }
      let ink = Self.hex(button["textColor"]?.string).map { "color:\($0);" } ?? ""
      let paper = Self.hex(button["background"]?.string).map { "background:\($0);" } ?? ""
      return ".\(role){\(ink)\(paper)}"
    }
    return "main{\(lines.joined())}" + own.joined()
  }

  /// A colour as `#RRGGBB`; nil for anything else, which must not get into a style.
  private static func hex(_ text: String?) -> String? {
    guard let text, text.utf8.count == 7, text.hasPrefix("#"), text.dropFirst().allSatisfy({ $0.isASCII && $0.isHexDigit })
    else { return nil }
    return text
  }

  private static let style = """
    *{box-sizing:border-box}
    body{margin:0;min-height:100vh;background:#5d6068;display:flex;align-items:center;justify-content:center;\
    font:17px/1.45 -apple-system,BlinkMacSystemFont,"Segoe UI",Roboto,Arial,sans-serif}
    main{--text:#000;--background:#fff;position:relative;width:min(22rem,92vw);max-height:90vh;overflow:auto;\
    background:var(--background);color:var(--text);border-radius:14px;box-shadow:0 12px 40px rgba(0,0,0,.4)}
    main.banner{position:fixed;top:.75rem;width:min(36rem,94vw);display:flex;align-items:center;gap:.75rem;padding:.5rem}
    main.imageOnly{background:none;box-shadow:none}
    img{display:block;width:100%;max-height:50vh;object-fit:cover}
    .banner img{width:4.5rem;height:4.5rem;border-radius:10px}
    .landscape{display:none}
    @media(orientation:landscape){img.landscape{display:block}img.landscape~img.portrait,img.portrait:has(~.landscape)\
    {display:none}}
    .words{padding:1rem 2.5rem .5rem 1rem;white-space:pre-line;overflow-wrap:anywhere}
    .words:not(:has(*)){display:none}
    h1{font-size:1.2rem;line-height:1.25;margin:0 0 .4rem}
    p{margin:0}
    .buttons{display:flex;gap:.5rem;justify-content:flex-end;padding:0 1rem 1rem}
    .buttons>*{font:inherit;min-height:44px;min-width:44px;padding:.6rem 1rem;border:0;border-radius:10px;\
    text-decoration:none;cursor:pointer}
    .buttons .close{position:absolute;top:.25rem;inset-inline-end:.25rem;padding:0;font-size:1.5rem;color:var(--text);\
    background:none}
    .imageOnly .buttons .close{color:#fff;background:rgba(0,0,0,.6);border-radius:50%}
    :focus-visible{outline:3px solid #2f6fed;outline-offset:2px}
    """
}
