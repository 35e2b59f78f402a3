extension TemplatePhrases {
  static let japanese = TemplatePhrases(
    greeting: "こんにちは{{#displayName}}、{{displayName}}様{{/displayName}}。",
    ignore: "お心当たりがない場合は、このメールを無視してください。何も変更されません。",
    letters: [
      .verifyEmail: Letter(
        subject: "{{appName}}: メールアドレスの確認", body: "{{email}} がご自身のメールアドレスであることを確認してください。",
        action: "メールアドレスを確認する"),
      .resetPassword: Letter(
        subject: "{{appName}}: パスワードの再設定", body: "次のリンクから、アカウント {{email}} の新しいパスワードを設定できます。",
        action: "新しいパスワードを設定する"),
      .signIn: Letter(
        subject: "{{appName}}にログイン", body: "次のリンクから {{email}} としてログインできます。リンクは一度だけ有効です。", action: "ログイン"),
      .verifyAndChangeEmail: Letter(
        subject: "{{appName}}: 新しいメールアドレスの確認", body: "アカウントのメールアドレスを {{newEmail}} に変更することを確認してください。",
        action: "新しいメールアドレスを確認する"),
      .recoverEmail: Letter(
        subject: "{{appName}}: メールアドレスが変更されました",
        body: "アカウントのメールアドレスが {{email}} から{{#newEmail}} {{newEmail}} に{{/newEmail}}変更されました。\n\n"
          + "お心当たりがない場合は、変更を取り消し、新しいパスワードを設定してください。",
        action: "変更を取り消す", closing: "ご自身で変更された場合は、このメールを無視してください。"),
      .invite: Letter(
        subject: "{{inviter}}さんから{{appName}}への招待",
        body: "{{inviter}}さんが一緒に{{appName}}で遊びたいと思っています。{{#message}}\n\n{{message}}{{/message}}",
        action: "招待を受ける", closing: "心当たりがない場合は、このメールを無視してください。"),
    ])
}
