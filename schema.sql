-- Doubloon: the whole current schema (version 2). Readable alone; StorageCore embeds this file.
--
-- Written for SQLite in words that PostgreSQL shares. For PostgreSQL: BLOB is BYTEA, WITHOUT ROWID goes away, and the
-- database's collation is C, because texts and paths are compared byte by byte.
--
-- Everything that has a name is scoped by its namespace, and every key begins with the namespace's number (ns). Logs are
-- keyed by a number that only grows, so that their rows are added at the end. Times are milliseconds since 1970. Numbers
-- are BIGINT. Nothing refers to another table by a constraint: the single writer keeps rows together by writing them in
-- one transaction, and `doubloon verify` shows that it did.

-- What is true of the whole store: schema (the version of this file), epoch (1, and 1 more for each restore), namespace_next, history_erasures,
-- long_value_last (the last id of a long_value that was given).
CREATE TABLE meta (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- A tree with its log and its ledger. The id of a namespace that was removed is never given again.
CREATE TABLE namespace (
  id BIGINT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  settled_revision BIGINT NOT NULL,  -- up to here every event is settled or has a delivery row
  history_revision BIGINT NOT NULL,  -- up to here the table history is complete; later changes are in commit_log
  pruned_revision BIGINT NOT NULL,   -- up to here the past was pruned
  CONSTRAINT namespace_name UNIQUE (name)
) WITHOUT ROWID;

-- The tree: one row for each leaf, and one for each priority. A path is a binary form that sorts like the tree (PathBytes),
-- so every subtree is one range. A value is a tag byte and the value, or the number of a long_value.
CREATE TABLE node (
  ns BIGINT NOT NULL,
  path BLOB NOT NULL,
  revision BIGINT NOT NULL,  -- of the last change
  value BLOB NOT NULL,
  PRIMARY KEY (ns, path)
) WITHOUT ROWID;

-- The commit log, a hash chain: hash covers the record before, the fixed fields and digest; digest covers changes, which
-- may be forgotten (NULL) while the chain still verifies.
CREATE TABLE commit_log (
  ns BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  time BIGINT NOT NULL,
  actor TEXT NOT NULL,
  request_id TEXT,
  cause BLOB,                           -- the event and the function whose effect this is
  suppresses_triggers SMALLINT NOT NULL,
  digest BLOB NOT NULL,
  hash BLOB NOT NULL,
  changes BLOB,                         -- path, before and after of each change
  PRIMARY KEY (ns, revision)
) WITHOUT ROWID;

-- The past of leaves: what stood at path before the commit of revision. Written behind the commits in sorted runs
-- (generations, named by their last revision), each of which is added at the end. history_run says which are whole.
CREATE TABLE history (
  ns BIGINT NOT NULL,
  generation BIGINT NOT NULL,
  path BLOB NOT NULL,
  revision BIGINT NOT NULL,
  before BLOB NOT NULL,                 -- a value, or the tag byte of "nothing"
  PRIMARY KEY (ns, generation, path, revision)
) WITHOUT ROWID;

-- What some function's pattern matched. Before and after come from the commit.
CREATE TABLE event (
  ns BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  path BLOB NOT NULL,
  epoch BIGINT NOT NULL,
  kind TEXT NOT NULL,                   -- created, updated, deleted
  hop BIGINT NOT NULL,
  PRIMARY KEY (ns, revision, path)
) WITHOUT ROWID;

-- The end of a function's work on an event; the key makes it the only one, for ever.
CREATE TABLE execution (
  ns BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  path BLOB NOT NULL,
  function TEXT NOT NULL,
  outcome TEXT NOT NULL,                -- done, skipped
  reason TEXT,
  attempt BIGINT NOT NULL,
  started_at BIGINT NOT NULL,
  finished_at BIGINT NOT NULL,
  effect BIGINT,                        -- the revision of its commit
  settings TEXT,
  PRIMARY KEY (ns, epoch, revision, path, function)
) WITHOUT ROWID;

-- An event that a function could not finish at once: waiting, paused or dead.
CREATE TABLE delivery (
  ns BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  path BLOB NOT NULL,
  function TEXT NOT NULL,
  kind TEXT NOT NULL,
  hop BIGINT NOT NULL,
  state TEXT NOT NULL,
  attempts BIGINT NOT NULL,
  crashes BIGINT NOT NULL,
  next_attempt_at BIGINT NOT NULL,
  last_error TEXT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (ns, epoch, revision, path, function)
) WITHOUT ROWID;
CREATE INDEX delivery_state ON delivery (ns, state, function, epoch, revision, path);

-- The ledger: an amount from one account to another, a hash chain. Never changed, never removed.
CREATE TABLE ledger_entry (
  ns BIGINT NOT NULL,
  sequence BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  time BIGINT NOT NULL,
  debit TEXT NOT NULL,
  credit TEXT NOT NULL,
  amount BIGINT NOT NULL,
  unit TEXT NOT NULL,
  code TEXT NOT NULL,
  business_key TEXT NOT NULL,
  event TEXT,
  function TEXT,
  subject TEXT,
  reverses BIGINT,
  reason TEXT,
  expires_at BIGINT,                    -- when a hold lapses
  allows_negative SMALLINT NOT NULL,
  debit_after BIGINT NOT NULL,
  credit_after BIGINT NOT NULL,
  previous_hash BLOB NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (ns, sequence)
) WITHOUT ROWID;
-- The second guard against paying twice; the first is the writer's look-up before.
CREATE UNIQUE INDEX ledger_entry_key ON ledger_entry (ns, business_key);
CREATE UNIQUE INDEX ledger_entry_reversal ON ledger_entry (ns, reverses) WHERE reverses IS NOT NULL;

-- The entries of each account, both sides.
CREATE TABLE ledger_posting (
  ns BIGINT NOT NULL,
  account TEXT NOT NULL,
  sequence BIGINT NOT NULL,
  PRIMARY KEY (ns, account, sequence)
) WITHOUT ROWID;

-- The balances of the accounts that the ledger alone keeps; those of currency holders are in the tree.
CREATE TABLE ledger_balance (
  ns BIGINT NOT NULL,
  account TEXT NOT NULL,
  unit TEXT NOT NULL,
  balance BIGINT NOT NULL,
  PRIMARY KEY (ns, account, unit)
) WITHOUT ROWID;

-- Effects outside the store, delivered after the commit, at least once.
CREATE TABLE outbox (
  ns BIGINT NOT NULL,
  key TEXT NOT NULL,
  outlet TEXT NOT NULL,
  payload TEXT NOT NULL,
  cause BLOB,
  state TEXT NOT NULL,                  -- waiting, delivered, dead
  attempts BIGINT NOT NULL,
  next_attempt_at BIGINT NOT NULL,
  last_error TEXT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (ns, key)
) WITHOUT ROWID;
CREATE INDEX outbox_state ON outbox (ns, state, key);

-- Answers to requests that carried a key, kept so that a repetition gets the same one.
CREATE TABLE idempotency (
  ns BIGINT NOT NULL,
  key TEXT NOT NULL,
  request_digest BLOB NOT NULL,
  revision BIGINT NOT NULL,
  answer BLOB NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (ns, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

-- The functions that were registered, of all namespaces: since is "ns:revision" of each, separated by commas.
CREATE TABLE function (
  name TEXT NOT NULL PRIMARY KEY,
  pattern TEXT NOT NULL,
  kinds TEXT NOT NULL,
  since TEXT NOT NULL,
  is_paused SMALLINT NOT NULL,
  pause_reason TEXT,
  updated_at BIGINT NOT NULL
) WITHOUT ROWID;

-- What admins did and tried to do.
CREATE TABLE audit (
  id BIGINT NOT NULL PRIMARY KEY,
  time BIGINT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  detail TEXT NOT NULL,
  result TEXT NOT NULL
) WITHOUT ROWID;

-- A namespace's security rules, as they were uploaded.
CREATE TABLE rules (
  ns BIGINT NOT NULL PRIMARY KEY,
  source TEXT NOT NULL,
  updated_at BIGINT NOT NULL,
  last_index BIGINT NOT NULL            -- the last number that was given to an index; none is given twice
) WITHOUT ROWID;

-- The indexes that the rules declare.
CREATE TABLE tree_index (
  ns BIGINT NOT NULL,
  id BIGINT NOT NULL,
  pattern TEXT NOT NULL,                -- where the parents stand: /users/$uid/items
  child_order TEXT NOT NULL,            -- .value, .priority or the path of a child
  state TEXT NOT NULL,                  -- building, ready, dropping
  cursor BLOB,                          -- building goes on at this path; NULL: at the beginning
  child_count BIGINT NOT NULL,          -- children that building has placed
  PRIMARY KEY (ns, id)
) WITHOUT ROWID;

-- The children of indexed nodes in the index's order. A place is the rank of what the child is ordered by, then its key, in
-- a binary form that sorts like the order (IndexPlace), so that the first or last children by an index are one range.
CREATE TABLE index_place (
  ns BIGINT NOT NULL,
  index_id BIGINT NOT NULL,
  parent BLOB NOT NULL,
  place BLOB NOT NULL,
  PRIMARY KEY (ns, index_id, parent, place)
) WITHOUT ROWID;

-- The runs of the table history. A run that is whole is searched by every read of the past; a
-- growing one is being merged from whole ones of the level below; the rows of a retired one are on their way out.
CREATE TABLE history_run (
  ns BIGINT NOT NULL,
  generation BIGINT NOT NULL,           -- of history; from 2^62 on for a merged run
  after_revision BIGINT NOT NULL,       -- it holds the changes of later revisions than this one,
  last_revision BIGINT NOT NULL,        -- up to this one
  level BIGINT NOT NULL,                -- how often its rows were merged
  state TEXT NOT NULL,                  -- whole, growing, retired
  PRIMARY KEY (ns, generation)
) WITHOUT ROWID;

-- A replay: what was asked for and how far it is, both as JSON. Kept, so that a replay goes on after a crash, and for ever
-- afterwards as its report.
CREATE TABLE replay (
  ns BIGINT NOT NULL,
  id BIGINT NOT NULL,
  state TEXT NOT NULL,                  -- running, paused, done, cancelled, failed
  orders TEXT NOT NULL,                 -- what was asked for, by whom, and why
  progress TEXT NOT NULL,               -- where it stands, and its counts
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (ns, id)
) WITHOUT ROWID;

-- The events and functions that a replay gave to the dispatcher; what became of them is in execution and delivery.
CREATE TABLE replay_item (
  ns BIGINT NOT NULL,
  replay BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  path BLOB NOT NULL,
  function TEXT NOT NULL,
  PRIMARY KEY (ns, replay, epoch, revision, path, function)
) WITHOUT ROWID;

-- Functions that were run by hand on an event that never happened: event 0-ID:PATH of the execution.
CREATE TABLE invocation (
  ns BIGINT NOT NULL,
  id BIGINT NOT NULL,
  function TEXT NOT NULL,
  path BLOB NOT NULL,
  before TEXT NOT NULL,                 -- JSON
  after TEXT NOT NULL,                  -- JSON
  acting_as TEXT NOT NULL,              -- the actor that the function saw
  actor TEXT NOT NULL,                  -- who invoked it
  reason TEXT NOT NULL,
  time BIGINT NOT NULL,
  PRIMARY KEY (ns, id)
) WITHOUT ROWID;

-- Where the log was pruned: the chain up to here, and the tree of this revision, which a rebuild begins with.
CREATE TABLE checkpoint (
  ns BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  commit_time BIGINT NOT NULL,          -- of the commit of this revision
  commit_hash BLOB NOT NULL,            -- of the commit of this revision
  tree_hash BLOB NOT NULL,              -- SHA-256 over the leaves
  leaves BIGINT NOT NULL,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (ns, revision)
) WITHOUT ROWID;

-- The leaves of the last checkpoint, as in node.
CREATE TABLE checkpoint_leaf (
  ns BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  path BLOB NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY (ns, revision, path)
) WITHOUT ROWID;

-- An attempt of a function on an event that ended in a failure.
CREATE TABLE failed_attempt (
  ns BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  path BLOB NOT NULL,
  function TEXT NOT NULL,
  finished_at BIGINT NOT NULL,
  attempt BIGINT NOT NULL,              -- counted from 1 again after a replay
  started_at BIGINT,                    -- NULL: the process died in it
  error TEXT NOT NULL,
  settings TEXT,
  PRIMARY KEY (ns, epoch, revision, path, function, finished_at, attempt)
) WITHOUT ROWID;

-- The service accounts that administrators and their programs sign in as; of the server, not of a namespace.
CREATE TABLE service_account (
  key_id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL,
  role TEXT NOT NULL,                   -- viewer, support, admin
  public_key TEXT NOT NULL,             -- PEM; the private half is in the file that was handed out, and nowhere else
  token_uri TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT NOT NULL,
  revoked_at BIGINT                     -- NULL while it is good
) WITHOUT ROWID;

-- A player's account. What functions may know of it stands in node too, behind the tree, where events come from.
CREATE TABLE account (
  ns BIGINT NOT NULL,
  uid TEXT NOT NULL,
  is_anonymous SMALLINT NOT NULL,
  used_at BIGINT NOT NULL,              -- the last sign-in or refresh
  password TEXT,                        -- a hash with its algorithm, salt and costs
  record TEXT NOT NULL,                 -- JSON
  PRIMARY KEY (ns, uid)
) WITHOUT ROWID;
CREATE INDEX account_unused ON account (ns, used_at) WHERE is_anonymous = 1;

-- What leads to one account only: an address, a number, an identity at a provider.
CREATE TABLE account_identifier (
  ns BIGINT NOT NULL,
  kind TEXT NOT NULL,                   -- email, phone, or the provider's name; of a tenant TENANT/KIND, and TENANT/ for its uids
  value TEXT NOT NULL,
  uid TEXT NOT NULL,
  PRIMARY KEY (ns, kind, value)
) WITHOUT ROWID;

-- Sessions. Of the token itself only its SHA-256 is kept.
CREATE TABLE refresh_token (
  ns BIGINT NOT NULL,
  hash BLOB NOT NULL,
  uid TEXT NOT NULL,
  provider TEXT NOT NULL,               -- how the player signed in
  claims TEXT,                          -- of the custom token, as JSON
  auth_time BIGINT NOT NULL,            -- seconds since 1970
  issued_at BIGINT NOT NULL,            -- or last used; minus the time of its end if it was ended before its time
  second_factor TEXT,                   -- the one that was shown: totp/ID, phone/ID
  PRIMARY KEY (ns, hash)
) WITHOUT ROWID;
CREATE INDEX refresh_token_account ON refresh_token (ns, uid);

-- Codes that were sent by mail, for one use each; only their SHA-256 is kept.
CREATE TABLE account_code (
  ns BIGINT NOT NULL,
  hash BLOB NOT NULL,
  kind TEXT NOT NULL,
  email TEXT NOT NULL,
  new_email TEXT,
  uid TEXT,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (ns, hash)
) WITHOUT ROWID;

-- Tokens that are void though their time is not over; kept until it is.
CREATE TABLE account_revocation (
  ns BIGINT NOT NULL,
  uid TEXT NOT NULL,
  reason TEXT NOT NULL,                 -- revoked, disabled, deleted
  not_before BIGINT NOT NULL,           -- seconds since 1970: of tokens that are still good
  effective_at BIGINT NOT NULL,
  PRIMARY KEY (ns, uid)
) WITHOUT ROWID;

-- What is set about a namespace's accounts.
CREATE TABLE account_settings (
  ns BIGINT NOT NULL PRIMARY KEY,
  settings TEXT NOT NULL                -- JSON
) WITHOUT ROWID;

-- Records of rooms that look theirs up by name only: links, their codes, who claimed what, settings, invitations,
-- suppressed addresses, earlier versions of the rules, what clients have registered for the end of their connection. The
-- values are JSON.
CREATE TABLE room_record (
  ns BIGINT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (ns, kind, key)
) WITHOUT ROWID;

-- How often links were opened, and what came of it. Added to every few seconds, not at each opening.
CREATE TABLE link_count (
  ns BIGINT NOT NULL,
  link TEXT NOT NULL,                   -- prefix and suffix: go.acme.test/r/aB3x
  day BIGINT NOT NULL,                  -- since 1970, UTC
  platform TEXT NOT NULL,               -- ANDROID, IOS, DESKTOP, OTHER
  event TEXT NOT NULL,                  -- CLICK, REDIRECT, APP_INSTALL, APP_FIRST_OPEN, APP_RE_OPEN
  count BIGINT NOT NULL,
  PRIMARY KEY (ns, link, day, platform, event)
) WITHOUT ROWID;

-- The sum of the rows of a table, for each namespace (0: of the whole store): how many there are, and their digests. Tables
-- that are made of others have none. What is about the schema itself stands under the name sqlite_schema.
CREATE TABLE row_digest (
  ns BIGINT NOT NULL,
  name TEXT NOT NULL,
  row_count BIGINT NOT NULL,
  digest BLOB NOT NULL,                 -- the sum of the SHA-256 of the rows, modulo 2^256, the lowest byte first
  PRIMARY KEY (ns, name)
) WITHOUT ROWID;

-- The audit log as a hash chain: the hash of a record covers the record and the hash before.
CREATE TABLE audit_chain (
  id BIGINT NOT NULL PRIMARY KEY,       -- of audit
  hash BLOB NOT NULL
) WITHOUT ROWID;

-- Values of node, history, checkpoint_leaf, commit_log.changes and idempotency.answer that are too long for their row, which has
-- the id in the value's place, as an integer. To compare keys SQLite reads a row that is longer than its page whole; the keys of
-- this table stand apart from the values. PostgreSQL keeps long values apart by itself.
CREATE TABLE long_value (
  id INTEGER NOT NULL PRIMARY KEY,      -- none is given twice
  tag BLOB NOT NULL,                    -- the first byte of the value
  value BLOB NOT NULL
);
