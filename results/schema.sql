-- shardlab results, schema version 2. Needs SQLite 3.37 or newer (STRICT tables).
-- Seconds, bytes and flop are plain numbers; every other unit stands beside its column.
-- No table holds a summary: medians, intervals and curves are computed from the samples.

PRAGMA application_id = 1397247042;  -- the letters SHLB
PRAGMA user_version = 2;

CREATE TABLE series (                -- what was asked: runs of equal series are comparable
  id          INTEGER PRIMARY KEY,
  scenario    TEXT NOT NULL CHECK (scenario <> ''),
  parameters  TEXT NOT NULL,         -- JSON object, keys sorted, no spaces
  dtype       TEXT NOT NULL,
  train       INTEGER NOT NULL CHECK (train IN (0, 1)),
  mesh        TEXT NOT NULL,         -- "data=2,domain=4"
  ranks       INTEGER NOT NULL CHECK (ranks > 0),  -- product of the mesh
  execution   TEXT NOT NULL CHECK (execution IN ('cpu', 'cuda', 'predict', 'published')),
  machine     TEXT NOT NULL,         -- of predicted and published rows, else empty
  profile     TEXT NOT NULL,         -- software: 'shardlab', 'pytorch-shardtensor', ...
  UNIQUE (scenario, parameters, dtype, train, mesh, execution, machine, profile)
) STRICT;

CREATE TABLE environment (           -- what it ran on: times compare only where it is equal
  id    INTEGER PRIMARY KEY,
  hash  TEXT NOT NULL UNIQUE,        -- of fields, 32 hex digits
  fields TEXT NOT NULL               -- JSON: processor, isa, build_type, compiler, libraries, topology
) STRICT;

CREATE TABLE run (
  id             INTEGER PRIMARY KEY,
  uuid           TEXT NOT NULL UNIQUE,  -- stays the same in every copy of the run
  series         INTEGER NOT NULL REFERENCES series (id),
  environment    INTEGER NOT NULL REFERENCES environment (id),
  created        TEXT NOT NULL,      -- UTC, 2031-02-03T04:05:06.789012Z
  status         TEXT NOT NULL CHECK (status IN ('running', 'complete', 'failed', 'skipped')),
  reason         TEXT NOT NULL,      -- why failed or skipped
  commit_id      TEXT NOT NULL,      -- git, empty if not known
  branch         TEXT NOT NULL,
  dirty          INTEGER NOT NULL CHECK (dirty IN (0, 1)),  -- 1: uncommitted changes
  oversubscribed INTEGER NOT NULL CHECK (oversubscribed IN (0, 1)),  -- 1: more ranks than cores
  seed           INTEGER NOT NULL,
  source         TEXT NOT NULL,      -- file, page or log that the rows come from; empty: our own
  writer         TEXT NOT NULL,      -- "BOOT-ID PID START", START in clock ticks since boot
  command        TEXT NOT NULL,      -- the command line
  variables      TEXT NOT NULL,      -- JSON: allow-listed environment variables
  state          TEXT NOT NULL,      -- JSON: clock rates, load, throttling at the start
  layouts        TEXT NOT NULL       -- text for people; last, so that listing never reads it
) STRICT;
CREATE INDEX run_by_series ON run (series, created);
CREATE INDEX run_by_created ON run (created);

CREATE TABLE metric (
  id           INTEGER PRIMARY KEY,
  name         TEXT NOT NULL UNIQUE,
  unit         TEXT NOT NULL,        -- 's', 'B', 'flop', '1', ...
  exact        INTEGER NOT NULL CHECK (exact IN (0, 1)),  -- 1: equal on every machine
  better       TEXT NOT NULL CHECK (better IN ('lower', 'higher', 'none')),
  across_ranks TEXT NOT NULL CHECK (across_ranks IN ('max', 'min', 'sum'))  -- rank values to one
) STRICT;

CREATE TABLE sample (
  run       INTEGER NOT NULL REFERENCES run (id),
  metric    INTEGER NOT NULL REFERENCES metric (id),
  iteration INTEGER NOT NULL CHECK (iteration >= 0),  -- from 0, warm-up first
  rank      INTEGER NOT NULL CHECK (rank >= -1),      -- -1: one value for the whole mesh
  warmup    INTEGER NOT NULL CHECK (warmup IN (0, 1)),
  value     REAL NOT NULL CHECK (abs(value) <= 1.7976931348623157e308),  -- unit: see metric
  PRIMARY KEY (run, metric, iteration, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE uncertainty (           -- of a predicted or published metric
  run      INTEGER NOT NULL REFERENCES run (id),
  metric   INTEGER NOT NULL REFERENCES metric (id),
  low      REAL NOT NULL,            -- unit: see metric
  high     REAL NOT NULL CHECK (high >= low),
  coverage REAL NOT NULL CHECK (coverage > 0 AND coverage <= 1),  -- 0.8: true in 80 of 100
  source   TEXT NOT NULL,            -- the weakest source used, or how the point was read
  PRIMARY KEY (run, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE fold (                  -- predicted runs: ranks that behave alike are stored once
  run     INTEGER NOT NULL REFERENCES run (id),
  rank    INTEGER NOT NULL CHECK (rank >= 0),   -- the one that is stored
  ranks   INTEGER NOT NULL CHECK (ranks > 0),   -- how many it stands for, itself included
  members TEXT NOT NULL,             -- "0-6,8"
  PRIMARY KEY (run, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE tensor_check (          -- comparison with a reference
  run    INTEGER NOT NULL REFERENCES run (id),
  name   TEXT NOT NULL,              -- of the tensor
  error  REAL,                       -- max|a-b| / max|b|; NULL: not a number
  bound  REAL NOT NULL,
  passed INTEGER NOT NULL CHECK (passed = (error IS NOT NULL AND error <= bound)),
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE scope (                 -- named, nested ranges of a timeline
  run           INTEGER NOT NULL REFERENCES run (id),
  rank          INTEGER NOT NULL CHECK (rank >= 0),
  iteration     INTEGER NOT NULL CHECK (iteration >= 0),
  ordinal       INTEGER NOT NULL CHECK (ordinal >= 0),
  parent        INTEGER CHECK (parent < ordinal),  -- ordinal of the enclosing scope
  name          TEXT NOT NULL,
  begin_seconds REAL NOT NULL,       -- from one zero for all ranks and iterations of the run
  end_seconds   REAL NOT NULL CHECK (end_seconds >= begin_seconds),
  PRIMARY KEY (run, rank, iteration, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE step (                  -- what one rank did
  run           INTEGER NOT NULL REFERENCES run (id),
  rank          INTEGER NOT NULL CHECK (rank >= 0),
  iteration     INTEGER NOT NULL CHECK (iteration >= 0),
  ordinal       INTEGER NOT NULL CHECK (ordinal >= 0),  -- program order
  scope         INTEGER,             -- ordinal of the innermost scope
  op            TEXT NOT NULL,
  lane          TEXT NOT NULL,       -- "host", "compute", "comm:domain"
  begin_seconds REAL NOT NULL,       -- as in scope
  end_seconds   REAL NOT NULL CHECK (end_seconds >= begin_seconds),
  flop          INTEGER NOT NULL CHECK (flop >= 0),
  bytes         INTEGER NOT NULL CHECK (bytes >= 0),       -- moved by this step
  live_bytes    INTEGER NOT NULL CHECK (live_bytes >= 0),  -- of the engine, after this step
  detail        TEXT NOT NULL,       -- shapes, peers, cause of a wait
  PRIMARY KEY (run, rank, iteration, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE mark (                  -- shifts that people accepted: no regressions any more
  series    INTEGER NOT NULL REFERENCES series (id),
  metric    INTEGER NOT NULL REFERENCES metric (id),
  commit_id TEXT NOT NULL CHECK (commit_id <> ''),  -- the first with the new level; "...+": dirty
  note      TEXT NOT NULL,           -- why
  created   TEXT NOT NULL,           -- as in run
  PRIMARY KEY (series, metric, commit_id)
) STRICT, WITHOUT ROWID;
