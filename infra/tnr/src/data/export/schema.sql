-- The tables, with their relations. A test compares the columns with columns.txt.
CREATE TABLE area_codes (
  npa TEXT PRIMARY KEY, state TEXT, country TEXT, plan_country TEXT, service TEXT, is_in_service INTEGER,
  assigned_on TEXT, in_service_on TEXT, parent_npa TEXT, time_zones TEXT, home_local_dialing TEXT,
  home_toll_dialing TEXT, foreign_local_dialing TEXT, foreign_toll_dialing TEXT, dialing_notes TEXT,
  is_in_jeopardy INTEGER, is_relief_in_progress INTEGER, relief_status TEXT, planning_letters TEXT, notes TEXT,
  total_exchanges INTEGER
) WITHOUT ROWID;
CREATE TABLE area_code_states (
  npa TEXT REFERENCES area_codes (npa), state TEXT, PRIMARY KEY (npa, state)
) WITHOUT ROWID;
CREATE INDEX area_code_states_by_state ON area_code_states (state);
CREATE TABLE area_code_overlays (
  npa TEXT REFERENCES area_codes (npa), overlay_npa TEXT REFERENCES area_codes (npa), PRIMARY KEY (npa, overlay_npa)
) WITHOUT ROWID;
CREATE TABLE carriers (
  ocn TEXT PRIMARY KEY, company_name TEXT, common_name TEXT, carrier_type TEXT, state TEXT, country TEXT,
  total_exchanges INTEGER
) WITHOUT ROWID;
CREATE INDEX carriers_by_company_name ON carriers (company_name);
CREATE TABLE exchanges (
  npa TEXT REFERENCES area_codes (npa), nxx TEXT, ocn TEXT REFERENCES carriers (ocn), company_name TEXT,
  carrier_type TEXT, rate_center TEXT, state TEXT, country TEXT, status TEXT, PRIMARY KEY (npa, nxx)
) WITHOUT ROWID;
CREATE INDEX exchanges_by_ocn ON exchanges (ocn);
CREATE INDEX exchanges_by_state ON exchanges (state);
CREATE INDEX exchanges_by_rate_center ON exchanges (rate_center);
CREATE TABLE blocks (
  npa TEXT, nxx TEXT, block INTEGER, ocn TEXT REFERENCES carriers (ocn), company_name TEXT, carrier_type TEXT,
  rate_center TEXT, effective_date TEXT, PRIMARY KEY (npa, nxx, block),
  FOREIGN KEY (npa, nxx) REFERENCES exchanges (npa, nxx)
) WITHOUT ROWID;
CREATE INDEX blocks_by_ocn ON blocks (ocn);
CREATE TABLE prefixes (
  prefix TEXT PRIMARY KEY, ocn TEXT REFERENCES carriers (ocn), company_name TEXT, carrier_type TEXT, rate_center TEXT,
  state TEXT, country TEXT, effective_from TEXT, next_ocn TEXT REFERENCES carriers (ocn), next_company_name TEXT,
  next_carrier_type TEXT, next_rate_center TEXT
) WITHOUT ROWID;
CREATE TABLE dictionary (
  table_name TEXT, column_name TEXT, type TEXT, description TEXT, PRIMARY KEY (table_name, column_name)
);
CREATE TABLE provenance (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;

-- Blocks whose assignment has started by now.
CREATE VIEW effective_blocks AS
  SELECT * FROM blocks WHERE effective_date IS NULL OR effective_date <= date('now');
CREATE VIEW holders_by_area_code AS
  SELECT npa, ocn, count(*) AS exchanges FROM exchanges WHERE status = 'ASSIGNED' AND ocn IS NOT NULL
  GROUP BY npa, ocn;
