"""What the players of the stage `kill` do, and what the tree must hold because of it.

A player's record belongs to one client, which sends one write at a time: whether a write that was never answered was
applied shows in the record after the restart, because every write changes something.
"""

import copy
import json

from server import Connection, Down

REWARD = 50
TIMESTAMP = {".sv": "timestamp"}


class Write:
    """One request on a player's record: `changes` says what each field becomes (None: it goes; TIMESTAMP: the time)."""

    def __init__(self, method, field, body, changes):
        self.method = method
        self.field = field
        self.body = body
        self.changes = changes


def put(field, value):
    return Write("PUT", field, value, {field: value})


def patch(**fields):
    return Write("PATCH", None, fields, fields)


def delete(field):
    return Write("DELETE", field, None, {field: None})


class Player:
    """A record, the writes still to be made, and what was earned."""

    def __init__(self, name, referrer, chance):
        self.name = name
        self.referrer = referrer
        self.record = {}
        self.has_signed_in = False
        self.has_reached_5 = False
        self.tally = 0
        self.writes = self._script(chance)

    def _script(self, chance):
        """A life: created, signed in, up to level 5, with notes, increments and relapses in between."""
        created = {"name": self.name, "created_at": chance.randrange(1, 2**40)}
        if self.referrer:
            created["referred_by"] = self.referrer
        yield Write("PUT", None, created, dict(created, **{"": "replace"}))
        yield put("last_signin_at", TIMESTAMP)
        for level in range(1, 6):
            if chance.random() < 0.3:
                amount = chance.randrange(1, 10)
                yield Write("PUT", "score", {".sv": {"increment": amount}}, {"score": ("increment", amount)})
            if chance.random() < 0.2:
                self.tally += 1
                yield patch(level=level, note=f"note {self.tally} of {self.name}")
            else:
                yield put("level", level)
            if "note" in self.record and chance.random() < 0.5:
                yield delete("note")
        if chance.random() < 0.15:
            # A relapse: the same milestones again, which pay nothing.
            yield put("level", 4)
            yield put("level", 5)
            yield delete("last_signin_at")
            yield put("last_signin_at", TIMESTAMP)
        if not self.referrer and chance.random() < 0.3:
            yield Write("DELETE", None, None, {"": "replace"})

    def path(self, field=None):
        return f"/users/{self.name}" + (f"/{field}" if field else "") + ".json"

    def after(self, write):
        """The record once the write was applied; a time that the server chose is TIMESTAMP."""
        record = {} if "" in write.changes else copy.copy(self.record)
        for field, value in write.changes.items():
            if field == "":
                continue
            if value is None:
                record.pop(field, None)
            elif isinstance(value, tuple):
                record[field] = record.get(field, 0) + value[1]
            else:
                record[field] = value
        return record

    def apply(self, write, seen=None):
        """Takes a write as applied. `seen` is the record as the server shows it, for times that it chose."""
        before = self.record.get("level")
        self.record = self.after(write)
        for field, value in self.record.items():
            if value == TIMESTAMP:
                self.record[field] = (seen or {}).get(field, value)
        if write.changes.get("last_signin_at") is not None:
            self.has_signed_in = True
        if before == 4 and self.record.get("level") == 5:
            self.has_reached_5 = True

    def matches(self, record, seen):
        """Whether what the server shows is `record`, but for the balance, which functions pay later."""
        seen = {field: value for field, value in (seen or {}).items() if field != "inventory"}
        if set(seen) != set(record):
            return False
        return all(isinstance(seen[f], int) if v == TIMESTAMP else same(seen[f], v) for f, v in record.items())

    def expected(self):
        """The record with its balance, when everything is settled."""
        record = dict(self.record)
        if self.referrer and self.has_signed_in:
            record["inventory"] = {"pieces_of_eight": REWARD}
        return record


def same(a, b):
    """Equality that tells 1 from true."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


class Client:
    """Plays one player after another until told to stop. Knows of every write whether it was acknowledged."""

    def __init__(self, number, referrers, chance, board):
        self.number = number
        self.chance = chance
        self.referrers = referrers
        self.board = board
        self.players = []
        self.in_flight = None
        self.broken = []

    def next_player(self):
        referrer = self.chance.choice(self.referrers) if self.chance.random() < 0.8 else None
        player = Player(f"p{self.number}x{len(self.players)}", referrer, self.chance)
        self.players.append(player)
        return player

    def play(self):
        """The life of the client's thread: between two kills it writes, after each it looks at what is left."""
        try:
            player = self.next_player()
            epoch = -1
            connection = None
            while True:
                running = self.board.await_server(epoch)
                if running is None:
                    return
                epoch, port = running
                connection = Connection(port)
                try:
                    self.resolve(connection, player)
                    while not self.board.is_stopping:
                        write = next(player.writes, None)
                        if write is None:
                            player = self.next_player()
                            continue
                        self.in_flight = write
                        answer = connection.ask(write.method, player.path(write.field), write.body)
                        self.acknowledge(connection, player, write, answer)
                    return
                except Down as error:
                    if not self.board.note_down(epoch):
                        self.broken.append(f"client {self.number}: the connection broke while the server ran: {error}")
                finally:
                    connection.close()
        except Exception as error:  # an error of the stage itself must not end a thread in silence
            self.broken.append(f"client {self.number}: {type(error).__name__}: {error}")
        finally:
            self.board.leave()

    def acknowledge(self, connection, player, write, answer):
        if answer.status != 200:
            self.broken.append(f"{write.method} {player.path(write.field)} got {answer.status}: {answer.text[:200]}")
            self.in_flight = None
            return
        # The server said that it is done: from here on it must be there, whatever happens next.
        player.apply(write)
        self.in_flight = None
        self.board.count()
        if TIMESTAMP in write.changes.values() and isinstance(answer.json, int):
            player.record[write.field] = answer.json

    def resolve(self, connection, player):
        """After a restart: the record must be what was acknowledged, or that and the one write in flight."""
        seen = connection.ask("GET", player.path()).json
        write, self.in_flight = self.in_flight, None
        if player.matches(player.record, seen):
            # A write that was not applied is made again: the script goes on as it would have.
            if write is not None:
                self.board.note(lost=1)
                player.writes = chain_first(write, player.writes)
        elif write is not None and player.matches(player.after(write), seen):
            self.board.note(kept=1)
            player.apply(write, seen)
        else:
            self.broken.append(
                f"{player.name} holds {json.dumps(seen)}; acknowledged was {json.dumps(player.record)}"
                + (f", in flight {write.method} {json.dumps(write.changes)}" if write else ""))
            player.record = {f: v for f, v in (seen or {}).items() if f != "inventory"}
        for field, value in player.record.items():
            if value == TIMESTAMP:
                player.record[field] = (seen or {}).get(field)


def chain_first(first, rest):
    yield first
    yield from rest
