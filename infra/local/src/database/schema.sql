CREATE TABLE _config (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE _tables (
  table_name TEXT PRIMARY KEY,
  key_schema TEXT NOT NULL,
  attribute_definitions TEXT NOT NULL,
  gsi_definitions TEXT,
  lsi_definitions TEXT,
  stream_enabled INTEGER DEFAULT 0,
  stream_view_type TEXT,
  stream_label TEXT,
  ttl_attribute TEXT,
  ttl_enabled INTEGER DEFAULT 0,
  created_at INTEGER NOT NULL,
  table_status TEXT NOT NULL DEFAULT 'ACTIVE',
  billing_mode TEXT DEFAULT 'PAY_PER_REQUEST',
  provisioned_throughput TEXT,
  tags TEXT,
  sse_specification TEXT,
  table_class TEXT,
  deletion_protection_enabled INTEGER DEFAULT 0,
  on_demand_throughput TEXT,
  table_id TEXT,
  vector_index_definitions TEXT
);

CREATE TABLE _stream_records (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  table_name TEXT NOT NULL,
  event_name TEXT NOT NULL,
  keys_json TEXT NOT NULL,
  new_image TEXT,
  old_image TEXT,
  sequence_number TEXT NOT NULL,
  shard_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  user_identity TEXT,
  event_id TEXT
);

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE "{name}" (
  pk TEXT NOT NULL,
  sk TEXT NOT NULL DEFAULT '',
  item_json TEXT NOT NULL,
  item_size INTEGER NOT NULL,
  cached_at REAL,
  hash_prefix TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (pk, sk)
);
