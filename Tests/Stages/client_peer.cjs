// The JavaScript client, driven as Tests/ClientFixture is: the same commands as lines, the same lines out.
// Usage: node client_peer.cjs URL FOLDER NAMESPACE, where FOLDER has the packages @firebase/app and @firebase/database.
const readline = require('node:readline');

const [url, folder, namespace] = process.argv.slice(2);
const load = name => require(require.resolve(name, { paths: [folder] }));
const { initializeApp } = load('@firebase/app');
const firebase = load('@firebase/database');

const database = firebase.getDatabase(initializeApp({ databaseURL: `${url}/?ns=${namespace}`, projectId: 'game' }));
const say = line => process.stdout.write(`${line}\n`);

/** One line for each event of the children, or of the whole. */
function listen(name, kind, limit) {
  const place = firebase.ref(database, name);
  const query = limit === 0 ? place : firebase.query(place, firebase.orderByKey(), firebase.limitToLast(limit));
  const kinds = {
    added: firebase.onChildAdded, changed: firebase.onChildChanged, moved: firebase.onChildMoved,
    removed: firebase.onChildRemoved, value: firebase.onValue,
  };
  for (const [word, on] of Object.entries(kinds)) {
    if (kind !== 'all' && kind !== word) continue;
    on(query, (snapshot, previous) =>
      say(`event ${name} ${word} ${snapshot.key ?? '-'} ${previous ?? '-'} ${JSON.stringify(snapshot.val())}`));
  }
}

const commands = {
  listen: (name, kind, limit) => listen(name, kind, Number(limit)),
  add: (name, number) =>
    firebase.update(firebase.ref(database, name), {
      count: firebase.increment(1), [`log/${number}`]: firebase.serverTimestamp(),
    }).then(() => say(`done ${number}`)),
  count: async (name, times) => {
    for (let n = 0; n < Number(times); n += 1) {
      await firebase.runTransaction(firebase.ref(database, name), value => (value ?? 0) + 1);
    }
    say('counted');
  },
  presence: async name => {
    const place = firebase.ref(database, name);
    await firebase.onDisconnect(place).set('gone');
    await firebase.set(place, 'here');
    say('present');
  },
  read: async name => say(`value ${JSON.stringify((await firebase.get(firebase.ref(database, name))).val())}`),
  sync: () => firebase.set(firebase.ref(database, 'sync'), firebase.serverTimestamp()).then(() => say('synced')),
  offline: () => firebase.goOffline(database),
  online: () => firebase.goOnline(database),
};

say('ready');
readline.createInterface({ input: process.stdin }).on('line', line => {
  const [command, ...words] = line.split(' ');
  Promise.resolve(commands[command](...words)).catch(error => say(`error ${error.message}`));
}).on('close', () => process.exit(0));
