/// The invitations that come with the program, in one language; the layout is the same in all.
struct InvitePhrases: Sendable {
  let subject: String
  let opening: String
  let how: String
  let action: String
  let closing: String
  let brief: String
  /// Who invites, if nobody knows the name.
  let friend: String
  /// What the link off the list says, in mails.
  let unsubscribe: String
  /// What the buttons of the channels say.
  let channels: Channels
  /// What a game shows above them: why to invite.
  let pitch: Pitch

  /// The names of channels.
  struct Channels: Sendable {
    let email: String
    let sms: String
    let copy: String
    let share: String
    let partner: String
  }

  /// A title and a sentence.
  struct Pitch: Sendable {
    let title: String
    let text: String
  }

  /// As templates.
  var sources: [String: String] {
    [
      "subject": subject,
      "text": "\(opening)\n{{#message}}\n{{message}}\n{{/message}}\n\(how)\n\n{{link}}\n\n\(closing)\n",
      "html": """
      <!DOCTYPE html>
      <html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
      <body style="margin:0;padding:24px;background:#f4f2ee;font:16px/1.5 -apple-system,'Segoe UI',Roboto,Arial,sans-serif;color:#1b1c1f">
      <div style="max-width:32em;margin:0 auto;background:#fff;border:1px solid #e4e1da;border-radius:16px;overflow:hidden">
      {{#image}}<img src="{{image}}" alt="" width="512" style="display:block;width:100%;height:auto">{{/image}}
      <div style="padding:24px">
      <p style="font-size:20px;font-weight:600;margin:0 0 12px">\(opening)</p>
      {{#message}}<p style="margin:0 0 16px;padding-left:12px;border-left:3px solid #e0b04f">{{message}}</p>{{/message}}
      <p style="margin:0 0 20px">\(how)</p>
      <p style="margin:0 0 20px"><a href="{{link}}" style="display:inline-block;padding:13px 24px;border-radius:12px;\
      background:#14213d;color:#fff;text-decoration:none;font-weight:600">\(action)</a></p>
      <p style="margin:0 0 12px;font-size:13px;color:#5d6068;word-break:break-all">{{link}}</p>
      <p style="margin:0;font-size:13px;color:#5d6068">\(closing)</p>
      </div></div></body></html>

      """,
      "sms": "\(brief)\n{{#message}}{{message}}\n{{/message}}{{link}}",
      "share": "\(brief) {{link}}",
      "title": pitch.title,
      "pitch": pitch.text,
    ]
  }

  /// The words for somebody who reads these languages, the best first; English for who reads none that there is.
  static func chosen(from locales: [String]) -> (locale: String, words: InvitePhrases) {
    for locale in locales {
      let language = String(locale.lowercased().prefix { $0 != "-" && $0 != "_" })
      if let words = all[language] { return (language, words) }
    }
    return ("en", english)
  }
}
