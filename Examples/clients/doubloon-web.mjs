// Points the Firebase JavaScript SDK (web) at a Doubloon server on your own https address, by its public settings: Auth's emulator
// setting takes an https address, the database's URL is any.
//
//   import { initializeApp } from "firebase/app";
//   import * as auth from "firebase/auth";
//   import * as database from "firebase/database";
//   import { connect } from "./doubloon-web.mjs";
//   const app = initializeApp({ apiKey: "web-key-1", projectId: "treasure-hunt" });
//   const game = connect(app, { server: "https://game.example.com", project: "treasure-hunt" }, auth, database);
//   await auth.signInAnonymously(game.auth);
//   await database.set(database.ref(game.database, "users/" + game.auth.currentUser.uid + "/name"), "Ann");
//
// Popups and redirects of other sign-in providers go through Firebase's own pages: get the provider's ID token yourself, and call
// signInWithCredential.

/**
 * @param {object} app what initializeApp gave; call this before anything else of auth and database
 * @param {{server: string, project: string, namespace?: string}} options
 * @param {object} auth the module firebase/auth
 * @param {object} database the module firebase/database
 */
export function connect(app, { server, project, namespace = `${project}-default-rtdb` }, auth, database) {
  const { protocol, host } = new URL(server);
  if (protocol !== "https:") throw new Error(`${server} must begin with https://`);
  const players = auth.getAuth(app);
  auth.connectAuthEmulator(players, `https://${host}`, { disableWarnings: true });
  return { auth: players, database: database.getDatabase(app, `https://${host}/?ns=${encodeURIComponent(namespace)}`) };
}
