// Claims an invitation from JavaScript: browsers, Node 18 and later, React Native. No dependencies.

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class Invitation {
  /** @param {{server: string, key: string, bundleId: string}} options the server, a key of its link settings, the app's id */
  constructor({ server, key, bundleId }) {
    Object.assign(this, { server, key, bundleId });
  }

  /**
   * Where the link leads that led to the installation, or null. Ask once.
   * @param {{link?: string, referrer?: string}} proof the clipboard's text, or the Play Store's referrer
   */
  async open({ link, referrer }) {
    const answer = await this.post(`/v1/installAttribution?key=${encodeURIComponent(this.key)}`, {
      bundleId: this.bundleId, uniqueMatchLinkToCheck: link, installReferrer: referrer,
    });
    return answer.deepLink ?? null;
  }

  /** What a link says that opened the app. */
  reopen(link) {
    return this.post(`/v1/reopenAttribution?key=${encodeURIComponent(this.key)}`, { requestedLink: link, bundleId: this.bundleId });
  }

  /** Signs a new player in without a name: `{localId, idToken, refreshToken}`. */
  signUp() {
    return this.post(`/identitytoolkit.googleapis.com/v1/accounts:signUp?key=${encodeURIComponent(this.key)}`, {
      returnSecureToken: true,
    });
  }

  /** Says who invited the player; returns the inviter. One of `link`, `referrer` and `code`. */
  async claim(idToken, { link, referrer, code }) {
    const answer = await this.post("/v1/referrals:claim", { link, referrer, code }, idToken);
    return answer.referredBy;
  }

  async post(path, body, idToken) {
    const headers = { "Content-Type": "application/json" };
    if (idToken) headers.Authorization = `Bearer ${idToken}`;
    const response = await fetch(this.server + path, { method: "POST", headers, body: JSON.stringify(body) });
    const answer = await response.json();
    if (!response.ok) throw new Refused(response.status, answer.error?.message ?? response.statusText);
    return answer;
  }
}
