// Points the Firebase admin SDK for Node at a Doubloon server, by the one thing that the SDK lets its user choose: the agent that
// opens its connections. What is meant for Google goes to your server, under your server's name and certificate.
//
//   import { initializeApp, cert } from "firebase-admin/app";
//   import { DoubloonAgent } from "./doubloon-agent.mjs";
//   const httpAgent = new DoubloonAgent("https://game.example.com");
//   const app = initializeApp({
//     credential: cert("game-server.json", httpAgent), httpAgent,
//     databaseURL: "https://game.example.com/?ns=treasure-hunt-default-rtdb",
//   });
//
// The key file is a service account's (doubloon service-account create game-server --role admin). Certificates of an authority of
// your own: NODE_EXTRA_CA_CERTS=ca.pem.
import https from "node:https";

/** The hosts that the SDK asks for accounts, access tokens and public keys. */
export const googleHosts = new Set([
  "accounts.google.com", "identitytoolkit.googleapis.com", "oauth2.googleapis.com", "securetoken.googleapis.com",
  "www.googleapis.com",
]);

export class DoubloonAgent extends https.Agent {
  /** @param {string} server the server's address, such as https://game.example.com */
  constructor(server, options) {
    super(options);
    const url = new URL(server);
    if (url.protocol !== "https:") throw new Error(`${server} must begin with https://`);
    this.server = { host: url.hostname, port: Number(url.port || 443) };
  }

  /** Called by Node for each connection; the request itself, with its Host header, stays as it is. */
  createConnection(options, callback) {
    if (!googleHosts.has(options.host)) return super.createConnection(options, callback);
    const { host, port } = this.server;
    return super.createConnection({ ...options, host, hostname: host, port, servername: host, path: undefined }, callback);
  }
}
