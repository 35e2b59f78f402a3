extension ActionWords {
  static let english = ActionWords(
    locale: "en",
    deeds: [
      .verifyEmail: Deed(title: "Confirm your address", done: "The address % is confirmed."),
      .resetPassword: Deed(title: "Choose a new password", done: "The new password for % is set. You can sign in with it now."),
      .verifyAndChangeEmail: Deed(title: "Confirm your new address", done: "Your account has the address % now."),
      .recoverEmail: Deed(
        title: "Take back the change of your address",
        done: "Your account has the address % again. If you did not change it, choose a new password too."),
      .signIn: Deed(title: "Sign in", done: ""),
    ],
    done: "Done", newPassword: "New password",
    weakPassword: "This password cannot be used. Choose a longer or more varied one, of at least % characters.",
    tryAgain: "That did not work just now. Try again in a moment.", goOn: "Continue",
    deadLink: "This link does not work any more", askAgain: "It was used, or its time is over. Ask for another one.")

  static let german = ActionWords(
    locale: "de",
    deeds: [
      .verifyEmail: Deed(title: "Adresse bestätigen", done: "Die Adresse % ist bestätigt."),
      .resetPassword: Deed(
        title: "Neues Passwort wählen", done: "Das neue Passwort für % gilt. Du kannst dich jetzt damit anmelden."),
      .verifyAndChangeEmail: Deed(title: "Neue Adresse bestätigen", done: "Dein Konto hat jetzt die Adresse %."),
      .recoverEmail: Deed(
        title: "Änderung der Adresse rückgängig machen",
        done: "Dein Konto hat wieder die Adresse %. Falls du sie nicht geändert hast, wähle auch ein neues Passwort."),
      .signIn: Deed(title: "Anmelden", done: ""),
    ],
    done: "Erledigt", newPassword: "Neues Passwort",
    weakPassword: "Dieses Passwort geht nicht. Wähle ein längeres oder vielfältigeres mit mindestens % Zeichen.",
    tryAgain: "Das hat gerade nicht geklappt. Versuche es gleich noch einmal.", goOn: "Weiter",
    deadLink: "Dieser Link gilt nicht mehr", askAgain: "Er wurde schon benutzt, oder seine Zeit ist um. Fordere einen neuen an."
  )

  static let french = ActionWords(
    locale: "fr",
    deeds: [
      .verifyEmail: Deed(title: "Confirmer votre adresse", done: "L'adresse % est confirmée."),
      .resetPassword: Deed(
        title: "Choisir un nouveau mot de passe",
        done: "Le nouveau mot de passe de % est enregistré. Vous pouvez vous connecter."),
      .verifyAndChangeEmail: Deed(
        title: "Confirmer votre nouvelle adresse", done: "L'adresse de votre compte est désormais %."),
      .recoverEmail: Deed(
        title: "Annuler le changement d'adresse",
        done:
          "L'adresse de votre compte est à nouveau %. Si vous ne l'aviez pas changée, choisissez aussi un nouveau mot de passe."
      ),
      .signIn: Deed(title: "Se connecter", done: ""),
    ],
    done: "C'est fait", newPassword: "Nouveau mot de passe",
    weakPassword: "Ce mot de passe ne convient pas. Choisissez-en un plus long ou plus varié, d'au moins % caractères.",
    tryAgain: "Cela n'a pas fonctionné. Réessayez dans un instant.", goOn: "Continuer",
    deadLink: "Ce lien n'est plus valable", askAgain: "Il a déjà servi, ou il a expiré. Demandez-en un autre.")

  static let spanish = ActionWords(
    locale: "es",
    deeds: [
      .verifyEmail: Deed(title: "Confirmar tu dirección", done: "La dirección % está confirmada."),
      .resetPassword: Deed(
        title: "Elegir una contraseña nueva", done: "La contraseña nueva de % está guardada. Ya puedes entrar con ella."),
      .verifyAndChangeEmail: Deed(
        title: "Confirmar tu nueva dirección", done: "La dirección de tu cuenta es ahora %."),
      .recoverEmail: Deed(
        title: "Deshacer el cambio de dirección",
        done: "La dirección de tu cuenta vuelve a ser %. Si no la cambiaste tú, elige también una contraseña nueva."),
      .signIn: Deed(title: "Entrar", done: ""),
    ],
    done: "Hecho", newPassword: "Contraseña nueva",
    weakPassword: "Esta contraseña no vale. Elige una más larga o más variada, de al menos % caracteres.",
    tryAgain: "Ahora mismo no ha funcionado. Inténtalo de nuevo en un momento.", goOn: "Continuar",
    deadLink: "Este enlace ya no sirve", askAgain: "Ya se ha usado, o ha caducado. Pide otro.")

  static let japanese = ActionWords(
    locale: "ja",
    deeds: [
      .verifyEmail: Deed(title: "メールアドレスを確認する", done: "%を確認しました。"),
      .resetPassword: Deed(title: "新しいパスワードを設定する", done: "%の新しいパスワードを設定しました。新しいパスワードでログインできます。"),
      .verifyAndChangeEmail: Deed(title: "新しいメールアドレスを確認する", done: "アカウントのメールアドレスは%になりました。"),
      .recoverEmail: Deed(
        title: "メールアドレスの変更を取り消す",
        done: "アカウントのメールアドレスを%に戻しました。変更に心当たりがない場合は、パスワードも変更してください。"),
      .signIn: Deed(title: "ログイン", done: ""),
    ],
    done: "完了しました", newPassword: "新しいパスワード",
    weakPassword: "このパスワードは使えません。%文字以上の、より長く複雑なものを選んでください。",
    tryAgain: "うまくいきませんでした。しばらくしてからもう一度お試しください。", goOn: "続ける",
    deadLink: "このリンクは無効です", askAgain: "すでに使われたか、期限が切れています。もう一度リクエストしてください。")
}
