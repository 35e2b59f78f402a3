// Plays what the Firebase SDKs for Node and the web send, through the shims of Examples/clients: the packages themselves come from a
// registry that the tests do not use. Arguments: the server, a service account's key file, the tree. Each line is a check.
import crypto from "node:crypto";
import fs from "node:fs";
import https from "node:https";

import { DoubloonAgent, googleHosts } from "../../Examples/clients/doubloon-agent.mjs";
import { connect } from "../../Examples/clients/doubloon-web.mjs";
import { Invitation } from "../../Examples/clients/invitation.mjs";

const [server, keyFile, tree] = process.argv.slice(2);
const key = JSON.parse(fs.readFileSync(keyFile, "utf8"));
const agent = new DoubloonAgent(server);

let failed = 0;
function check(name, holds, detail) {
  if (!holds) failed += 1;
  console.log((holds ? "ok      " : "FAILED  ") + name + (holds ? "" : ": " + JSON.stringify(detail)));
}

function ask(url, { method = "GET", headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const request = https.request(url, { method, headers, agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => (text += part)).on("end", () => {
        let json = null;
        try { json = JSON.parse(text); } catch { /* the check that looks at it says what came */ }
        resolve({ status: answer.statusCode, headers: answer.headers, json, text, from: answer.socket.servername });
      });
    });
    request.on("error", reject).end(body);
  });
}

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const signed = (header, claims) => {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${crypto.sign("RSA-SHA256", Buffer.from(text), key.private_key).toString("base64url")}`;
};
const now = Math.floor(Date.now() / 1000);

// google-auth-library, gtoken: the header of what it signs names no key.
const scope = "https://www.googleapis.com/auth/firebase.database https://www.googleapis.com/auth/identitytoolkit";
const assertion = signed({ alg: "RS256" }, {
  iss: key.client_email, scope, aud: "https://oauth2.googleapis.com/token", exp: now + 3600, iat: now });
const form = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
const granted = await ask("https://oauth2.googleapis.com/token", {
  method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: form.toString() });
check("Node, admin: an assertion without a key's name buys a token", granted.status === 200 && granted.json?.access_token, granted.text);
const admin = { Authorization: `Bearer ${granted.json?.access_token}`, "Content-Type": "application/json" };
check("Node, admin: the server's own certificate was asked for", granted.from === new URL(server).hostname, granted.from);

// firebase-admin, src/auth/auth-api-request.ts
const accounts = `https://identitytoolkit.googleapis.com/v1/projects/${key.project_id}/accounts`;
const post = (url, value) => ask(url, { method: "POST", headers: admin, body: JSON.stringify(value) });
const made = await post(accounts, { localId: "node", email: "node@example.com", password: "secret-1" });
check("Node, admin: createUser", made.status === 200 && made.json?.localId === "node", made.text);
const found = await post(`${accounts}:lookup`, { localId: ["node"] });
check("Node, admin: getUser", found.json?.users?.[0]?.email === "node@example.com", found.text);
const listed = await ask(`${accounts}:batchGet?maxResults=1000`, { headers: admin });
check("Node, admin: listUsers", listed.json?.users?.some((user) => user.localId === "node"), listed.text);
const claimed = await post(`${accounts}:update`, { localId: "node", customAttributes: '{"guild":"pirates"}' });
check("Node, admin: setCustomUserClaims", claimed.status === 200, claimed.text);

// src/auth/token-generator.ts: the header is {alg, typ}.
const custom = signed({ alg: "RS256", typ: "JWT" }, {
  aud: "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit", iat: now, exp: now + 3600,
  iss: key.client_email, sub: key.client_email, uid: "node" });
const session = await ask(`${server}/v1/accounts:signInWithCustomToken?key=k`, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token: custom, returnSecureToken: true }) });
check("Node, admin: createCustomToken signs a player in", session.status === 200, session.text);

// src/utils/jwt.ts: certificates by key name.
const certificates = await ask("https://www.googleapis.com/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com");
const [head, body, signature] = (session.json?.idToken ?? "..").split(".");
const certificate = certificates.json?.[JSON.parse(Buffer.from(head, "base64url") || "{}").kid];
check("Node, admin: verifyIdToken, by the published certificates", certificate !== undefined && crypto.verify(
  "RSA-SHA256", Buffer.from(`${head}.${body}`), new crypto.X509Certificate(certificate).publicKey, Buffer.from(signature, "base64url")),
certificates.text);
check("Node, admin: and how long they may be kept", /max-age=\d+/.test(certificates.headers["cache-control"]), certificates.headers);
const tree_ = await ask(`${server}/proof.json?ns=${tree}`, { method: "PUT", headers: admin, body: '"node"' });
check("Node, admin: the database takes the token", tree_.status === 200 && tree_.json === "node", tree_.text);
check("Node, admin: getRules", (await ask(`${server}/.settings/rules.json?ns=${tree}`, { headers: admin })).json?.rules !== undefined);
check("Node, admin: other hosts are left alone", !googleHosts.has("localhost") && !googleHosts.has("example.com"));

// The web SDK, by its public settings; what it then asks for is packages/auth/src/core/util/emulator.ts.
const calls = [];
const auth = { getAuth: () => "auth", connectAuthEmulator: (...values) => calls.push(values) };
const database = { getDatabase: (_, url) => url };
const game = connect({}, { server, project: key.project_id }, auth, database);
const origin = calls[0]?.[1];
check("web: Auth is given the https address", calls[0]?.[0] === "auth" && origin === new URL(server).origin, calls);
check("web: the database its URL with the tree", game.database === `${new URL(server).origin}/?ns=${tree}`, game.database);
const json = { method: "POST", headers: { "Content-Type": "application/json", Origin: "https://play.example.com" } };
const ann = await ask(`${origin}/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k`, { ...json, body: '{"returnSecureToken":true}' });
check("web: signInAnonymously, from another site's page", ann.status === 200 && ann.headers["access-control-allow-origin"], ann.headers);
const refreshed = await ask(`${origin}/securetoken.googleapis.com/v1/token?key=k`, {
  method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded", Origin: "https://play.example.com" },
  body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: ann.json?.refreshToken ?? "" }).toString() });
check("web: the token is refreshed", refreshed.status === 200 && refreshed.json?.id_token, refreshed.text);
const own = await ask(`${server}/users/${ann.json?.localId}/name.json?ns=${tree}&auth=${refreshed.json?.id_token}`, {
  method: "PUT", body: '"Ann"' });
check("web: and the database takes it", own.status === 200, own.text);

// Examples/clients/invitation.mjs: plain fetch.
const link = await ask(`${server}/v1/shortLinks?key=web-key-1`, {
  method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${ann.json?.idToken}` },
  body: '{"longDynamicLink":"https://go.example.com/r/?link=https://example.com/play"}' });
const invitation = new Invitation({ server, key: "web-key-1", bundleId: "com.example.game" });
check("JavaScript: no link led to this installation", (await invitation.open({ referrer: "utm_source=none" })) === null);
const bob = await invitation.signUp();
check("JavaScript: a code says who invited", (await invitation.claim(bob.idToken, { code: link.json?.code })) === ann.json?.localId);
agent.destroy();
process.exit(failed === 0 ? 0 : 1);
