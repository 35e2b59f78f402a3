extension TemplatePhrases {
  static let english = TemplatePhrases(
    greeting: "Hello{{#displayName}} {{displayName}}{{/displayName}},",
    ignore: "If you did not ask for this, ignore this message: nothing changes.",
    letters: [
      .verifyEmail: Letter(
        subject: "Confirm your address for {{appName}}",
        body: "please confirm that {{email}} is your address.", action: "Confirm address"),
      .resetPassword: Letter(
        subject: "Your password for {{appName}}",
        body: "with this link you choose a new password for your account {{email}}.", action: "Choose a new password"),
      .signIn: Letter(
        subject: "Sign in to {{appName}}", body: "with this link you sign in as {{email}}. It works once.", action: "Sign in"),
      .verifyAndChangeEmail: Letter(
        subject: "Confirm your new address for {{appName}}",
        body: "please confirm that {{newEmail}} shall be the address of your account.",
        action: "Confirm new address"),
      .recoverEmail: Letter(
        subject: "Your address for {{appName}} was changed",
        body: "the address of your account was changed from {{email}}{{#newEmail}} to {{newEmail}}{{/newEmail}}.\n\n"
          + "If that was not you, take the change back, and then choose a new password.",
        action: "Take the change back", closing: "If it was you, ignore this message."),
      .invite: Letter(
        subject: "{{inviter}} invites you to {{appName}}",
        body: "{{inviter}} would like to play {{appName}} with you.{{#message}}\n\n{{message}}{{/message}}",
        action: "Accept the invitation", closing: "If you do not know the sender, ignore this message."),
    ])

  static let german = TemplatePhrases(
    greeting: "Hallo{{#displayName}} {{displayName}}{{/displayName}},",
    ignore: "Falls du das nicht angefordert hast, ist nichts zu tun: Es ändert sich nichts.",
    letters: [
      .verifyEmail: Letter(
        subject: "Bestätige deine Adresse für {{appName}}",
        body: "bitte bestätige, dass {{email}} deine Adresse ist.", action: "Adresse bestätigen"),
      .resetPassword: Letter(
        subject: "Dein Passwort für {{appName}}",
        body: "mit diesem Link wählst du ein neues Passwort für dein Konto {{email}}.", action: "Neues Passwort wählen"),
      .signIn: Letter(
        subject: "Anmelden bei {{appName}}",
        body: "mit diesem Link meldest du dich als {{email}} an. Er gilt einmal.", action: "Anmelden"),
      .verifyAndChangeEmail: Letter(
        subject: "Bestätige deine neue Adresse für {{appName}}",
        body: "bitte bestätige, dass dein Konto künftig die Adresse {{newEmail}} haben soll.",
        action: "Neue Adresse bestätigen"),
      .recoverEmail: Letter(
        subject: "Deine Adresse für {{appName}} wurde geändert",
        body: "die Adresse deines Kontos wurde von {{email}}{{#newEmail}} auf {{newEmail}}{{/newEmail}} geändert.\n\n"
          + "Falls du das nicht warst, mach die Änderung rückgängig und wähle danach ein neues Passwort.",
        action: "Änderung rückgängig machen", closing: "Falls du es warst, ist nichts zu tun."),
      .invite: Letter(
        subject: "{{inviter}} lädt dich zu {{appName}} ein",
        body: "{{inviter}} möchte mit dir {{appName}} spielen.{{#message}}\n\n{{message}}{{/message}}",
        action: "Einladung annehmen", closing: "Falls du den Absender nicht kennst, ist nichts zu tun."),
    ])

  static let spanish = TemplatePhrases(
    greeting: "Hola{{#displayName}} {{displayName}}{{/displayName}}:",
    ignore: "Si no lo has pedido, ignora este mensaje: no cambia nada.",
    letters: [
      .verifyEmail: Letter(
        subject: "Confirma tu dirección para {{appName}}",
        body: "confirma que {{email}} es tu dirección.", action: "Confirmar dirección"),
      .resetPassword: Letter(
        subject: "Tu contraseña de {{appName}}",
        body: "con este enlace eliges una contraseña nueva para tu cuenta {{email}}.", action: "Elegir contraseña nueva"),
      .signIn: Letter(
        subject: "Entra en {{appName}}", body: "con este enlace entras como {{email}}. Sirve una sola vez.",
        action: "Entrar"),
      .verifyAndChangeEmail: Letter(
        subject: "Confirma tu nueva dirección para {{appName}}",
        body: "confirma que la dirección de tu cuenta debe ser {{newEmail}}.",
        action: "Confirmar la nueva dirección"),
      .recoverEmail: Letter(
        subject: "Tu dirección de {{appName}} ha cambiado",
        body: "la dirección de tu cuenta ha cambiado de {{email}}{{#newEmail}} a {{newEmail}}{{/newEmail}}.\n\n"
          + "Si no has sido tú, deshaz el cambio y elige después una contraseña nueva.",
        action: "Deshacer el cambio", closing: "Si has sido tú, ignora este mensaje."),
      .invite: Letter(
        subject: "{{inviter}} te invita a {{appName}}",
        body: "{{inviter}} quiere jugar a {{appName}} contigo.{{#message}}\n\n{{message}}{{/message}}",
        action: "Aceptar la invitación", closing: "Si no conoces al remitente, ignora este mensaje."),
    ])

  static let french = TemplatePhrases(
    greeting: "Bonjour{{#displayName}} {{displayName}}{{/displayName}},",
    ignore: "Si vous n'avez rien demandé, ignorez ce message : rien ne change.",
    letters: [
      .verifyEmail: Letter(
        subject: "Confirmez votre adresse pour {{appName}}",
        body: "merci de confirmer que {{email}} est votre adresse.", action: "Confirmer l'adresse"),
      .resetPassword: Letter(
        subject: "Votre mot de passe pour {{appName}}",
        body: "ce lien vous permet de choisir un nouveau mot de passe pour votre compte {{email}}.",
        action: "Choisir un nouveau mot de passe"),
      .signIn: Letter(
        subject: "Connexion à {{appName}}", body: "ce lien vous connecte en tant que {{email}}. Il ne sert qu'une fois.",
        action: "Se connecter"),
      .verifyAndChangeEmail: Letter(
        subject: "Confirmez votre nouvelle adresse pour {{appName}}",
        body: "merci de confirmer que l'adresse de votre compte doit être {{newEmail}}.",
        action: "Confirmer la nouvelle adresse"),
      .recoverEmail: Letter(
        subject: "Votre adresse pour {{appName}} a été modifiée",
        body: "l'adresse de votre compte a été modifiée de {{email}}{{#newEmail}} en {{newEmail}}{{/newEmail}}.\n\n"
          + "Si ce n'était pas vous, annulez la modification, puis choisissez un nouveau mot de passe.",
        action: "Annuler la modification", closing: "Si c'était vous, ignorez ce message."),
      .invite: Letter(
        subject: "{{inviter}} vous invite à {{appName}}",
        body: "{{inviter}} aimerait jouer à {{appName}} avec vous.{{#message}}\n\n{{message}}{{/message}}",
        action: "Accepter l'invitation", closing: "Si vous ne connaissez pas l'expéditeur, ignorez ce message."),
    ])
}
