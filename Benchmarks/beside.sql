-- The referral game in PostgreSQL, as a user of it would write it: one table, one trigger.
CREATE TABLE users (
  uid text PRIMARY KEY,
  name text,
  referred_by text,
  created_at bigint,
  last_signin_at bigint,
  level int,
  pieces_of_eight bigint NOT NULL DEFAULT 0
);

CREATE FUNCTION reward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.referred_by IS NULL THEN
    RETURN NULL;
  END IF;
  IF NEW.last_signin_at IS NOT NULL AND (TG_OP = 'INSERT' OR OLD.last_signin_at IS NULL) THEN
    UPDATE users SET pieces_of_eight = pieces_of_eight + 50 WHERE uid = NEW.uid;
  END IF;
  IF TG_OP = 'UPDATE' AND OLD.level = 4 AND NEW.level = 5 THEN
    UPDATE users SET pieces_of_eight = pieces_of_eight + 50 WHERE uid = NEW.referred_by;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER reward AFTER INSERT OR UPDATE OF last_signin_at, level ON users FOR EACH ROW EXECUTE FUNCTION reward();
