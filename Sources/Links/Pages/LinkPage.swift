/// A page that a link's host answers with: whole, with the policy that says what it may load.
public struct LinkPage: Sendable, Hashable {
  /// The HTML.
  public let html: String
  /// The value of `Content-Security-Policy`.
  public let policy: String

  /// A page with the house's style.
  ///
  /// - Parameters:
  ///   - head: further elements of the head, as HTML.
  ///   - body: the body, as HTML.
  ///   - script: a script that is the same for every link; what differs stands in attributes.
  init(title: String, head: String = "", body: String, script: String? = nil) {
    let code = script.map { "<script>\($0)</script>" } ?? ""
    html = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="robots" content="noindex">
      <meta name="color-scheme" content="light dark">
      <title>\(HTMLText.escape(title))</title>
      \(head)<style>\(Self.style)</style>
      </head>
      <body>
      \(body)
      \(code)</body>
      </html>

      """
    policy =
      "default-src 'none'; img-src https: http:; style-src \(Self.styleSource); "
      + (script.map { "script-src \(HTMLText.source($0)); " } ?? "")
      + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  }

  private static let styleSource = HTMLText.source(style)

  private static let style = """
    :root{--ink:#1b1c1f;--soft:#5d6068;--paper:#f4f2ee;--card:#fff;--line:#e4e1da;--gold:#a8741a;--deep:#14213d}
    @media(prefers-color-scheme:dark){:root{--ink:#f2f0ea;--soft:#a9a69d;--paper:#121418;--card:#1c1f26;--line:#30343d;\
    --gold:#e0b04f;--deep:#e9e4d6}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.5 -apple-system,BlinkMacSystemFont,"Segoe UI",Roboto,\
    "Helvetica Neue",Arial,sans-serif;-webkit-text-size-adjust:100%}
    main{max-width:28rem;margin:0 auto;padding:1.5rem 1.25rem 3rem}
    .card{background:var(--card);border:1px solid var(--line);border-radius:20px;overflow:hidden;\
    box-shadow:0 12px 32px rgba(20,33,61,.08)}
    .hero{display:block;width:100%;aspect-ratio:16/9;object-fit:cover;background:var(--line)}
    .inside{padding:1.5rem}
    .app{display:flex;align-items:center;gap:.75rem;margin-bottom:1rem;color:var(--soft);font-size:.95rem}
    .icon{width:2.75rem;height:2.75rem;border-radius:.7rem;background:linear-gradient(135deg,#14213d,#3a5a8c);color:#fff;\
    display:flex;align-items:center;justify-content:center;font-weight:700;font-size:1.25rem}
    h1{font-size:1.6rem;line-height:1.2;letter-spacing:-.015em;margin:0 0 .6rem;overflow-wrap:anywhere}
    p{margin:0 0 1.1rem;color:var(--soft);overflow-wrap:anywhere}
    .button{display:block;width:100%;text-align:center;text-decoration:none;font-weight:600;font-size:1.06rem;padding:.95rem 1rem;\
    border-radius:14px;background:#14213d;color:#fff}
    .second{background:none;color:var(--deep);border:1px solid var(--line);margin-top:.7rem}
    label{display:flex;gap:.7rem;align-items:flex-start;margin:0 0 1.1rem;padding:.85rem 1rem;border-radius:14px;\
    background:var(--paper);font-size:.95rem;color:var(--ink)}
    label small{display:block;color:var(--soft)}
    input{width:1.2rem;height:1.2rem;margin:.15rem 0 0;accent-color:#14213d;flex:none}
    .code{margin:1.4rem 0 0;padding-top:1.2rem;border-top:1px solid var(--line);text-align:center;font-size:.92rem;color:var(--soft)}
    .code b{display:block;margin-top:.25rem;font:700 1.5rem/1.3 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;\
    letter-spacing:.12em;color:var(--gold);user-select:all;-webkit-user-select:all}
    table{width:100%;border-collapse:collapse;font-size:.92rem}
    td,th{text-align:left;vertical-align:top;padding:.5rem .4rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
    th{white-space:nowrap;color:var(--soft);font-weight:600}
    code{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
    .wide{max-width:52rem}
    h2{font-size:1.1rem;margin:1.6rem 0 .5rem}
    ul{padding-left:1.2rem;margin:.3rem 0}
    """
}
