/// A page that a link's host answers with: whole, with the policy that says what it may load.
public struct LinkPage: Sendable, Hashable {
  /// The HTML.
  public let html: String
  /// The value of `Content-Security-Policy`.
  public let policy: String

  /// A page with the house's style.
  ///
  /// - Parameters:
  ///   - language: what it is written in.
  ///   - head: further elements of the head, as HTML.
  ///   - body: the body, as HTML.
  ///   - script: a script that is the same for every link; what differs stands in attributes.
  init(title: String, language: String = "en", head: String = "", body: String, script: String? = nil) {
    let code = script.map { "<script>\($0)</script>" } ?? ""
    html = """
      <!DOCTYPE html>
      <html lang="\(language)">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
      <meta name="robots" content="noindex">
      <meta name="color-scheme" content="light dark">
      <meta name="theme-color" content="#f4f2ee" media="(prefers-color-scheme: light)">
      <meta name="theme-color" content="#121418" media="(prefers-color-scheme: dark)">
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
    :root{--ink:#1b1c1f;--soft:#5d6068;--paper:#f4f2ee;--card:#fff;--line:#e4e1da;--gold:#96650f;--deep:#14213d;\
    --key:#14213d;--onkey:#fff;--sky:#1d3156;--sea:#4a78ab}
    @media(prefers-color-scheme:dark){:root{--ink:#f2f0ea;--soft:#b0ada4;--paper:#121418;--card:#1c1f26;--line:#343841;\
    --gold:#e6b85c;--deep:#e9e4d6;--key:#e6b85c;--onkey:#1b1406;--sky:#1a2540;--sea:#3f5f8a}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.5 -apple-system,BlinkMacSystemFont,"Segoe UI",\
    Roboto,"Helvetica Neue",Arial,sans-serif;-webkit-text-size-adjust:100%}
    main{max-width:28rem;margin:0 auto;padding:1.25rem max(1.1rem,\
    env(safe-area-inset-right)) calc(2rem + env(safe-area-inset-bottom)) max(1.1rem,env(safe-area-inset-left))}
    .card{background:var(--card);border:1px solid var(--line);border-radius:22px;overflow:hidden;\
    box-shadow:0 12px 32px rgba(20,33,61,.08)}
    .hero{height:6.5rem;background:radial-gradient(120% 160% at 80% -30%,#e6b85c 0,transparent 45%),\
    linear-gradient(160deg,var(--sky),var(--sea));overflow:hidden}
    .hero:has(img){height:auto}
    .hero img{display:block;width:100%;aspect-ratio:1.91;max-height:34vh;object-fit:cover}
    .inside{padding:1.4rem}
    .hero+.inside{padding-top:0}
    .app{display:flex;align-items:flex-end;gap:.75rem;margin:-1.6rem 0 1rem;color:var(--soft);font-size:.95rem;\
    font-weight:500}
    .app span:last-child{min-width:0;overflow-wrap:anywhere;padding-top:1.8rem}
    .icon{flex:none;width:3.5rem;height:3.5rem;border-radius:.95rem;background:linear-gradient(145deg,#2b4a7e,#14213d);\
    color:#fff;border:3px solid var(--card);display:flex;align-items:center;justify-content:center;font-weight:700;\
    font-size:1.45rem}
    h1{font-size:1.65rem;line-height:1.2;letter-spacing:-.015em;margin:0 0 .5rem;overflow-wrap:anywhere;hyphens:auto;\
    text-wrap:balance}
    h1.long{font-size:1.25rem;line-height:1.28;letter-spacing:-.01em;display:-webkit-box;-webkit-box-orient:vertical;\
    -webkit-line-clamp:5;overflow:hidden}
    p{margin:0 0 1.1rem;color:var(--soft);overflow-wrap:anywhere}
    .words{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:6;overflow:hidden;text-wrap:pretty}
    .button{display:block;width:100%;text-align:center;text-decoration:none;font-weight:600;font-size:1.06rem;\
    padding:.9rem 1rem;border-radius:14px;background:var(--key);color:var(--onkey)}
    .button:active{opacity:.85}
    .button:focus-visible,input:focus-visible{outline:3px solid var(--gold);outline-offset:2px}
    .second{background:none;color:var(--deep);box-shadow:inset 0 0 0 1px var(--line);margin-top:.65rem}
    label{display:flex;gap:.75rem;align-items:flex-start;margin:0 0 1rem;padding:.8rem .95rem;border-radius:14px;\
    background:var(--paper);font-size:.95rem;color:var(--ink)}
    label[hidden]{display:none}
    label small{display:block;color:var(--soft);line-height:1.4}
    input{width:1.2rem;height:1.2rem;margin:.15rem 0 0;accent-color:var(--key);flex:none}
    .code{margin:1.2rem 0 0;padding-top:1rem;border-top:1px solid var(--line);text-align:center;font-size:.92rem;\
    color:var(--soft)}
    .code b{display:block;margin-top:.2rem;font:700 1.5rem/1.3 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;\
    letter-spacing:.12em;color:var(--gold);user-select:all;-webkit-user-select:all}
    table{width:100%;border-collapse:collapse;font-size:.92rem}
    td,th{text-align:left;vertical-align:top;padding:.5rem .4rem;border-bottom:1px solid var(--line);\
    overflow-wrap:anywhere}
    th{white-space:nowrap;color:var(--soft);font-weight:600}
    code{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
    .wide{max-width:52rem}
    h2{font-size:1.1rem;margin:1.6rem 0 .5rem}
    ul{padding-left:1.2rem;margin:.3rem 0}
    """
}
