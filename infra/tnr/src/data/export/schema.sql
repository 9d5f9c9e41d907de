-- The keys, indexes and views of the tables. Their columns are in columns.txt.
CREATE TABLE area_codes (PRIMARY KEY (npa)) WITHOUT ROWID;
CREATE TABLE area_code_states (
  PRIMARY KEY (npa, state), FOREIGN KEY (npa) REFERENCES area_codes (npa)
) WITHOUT ROWID;
CREATE INDEX area_code_states_by_state ON area_code_states (state);
CREATE TABLE area_code_overlays (
  PRIMARY KEY (npa, overlay_npa), FOREIGN KEY (npa) REFERENCES area_codes (npa),
  FOREIGN KEY (overlay_npa) REFERENCES area_codes (npa)
) WITHOUT ROWID;
CREATE TABLE carriers (PRIMARY KEY (ocn)) WITHOUT ROWID;
CREATE INDEX carriers_by_company_name ON carriers (company_name);
CREATE TABLE exchanges (
  PRIMARY KEY (npa, nxx), FOREIGN KEY (npa) REFERENCES area_codes (npa), FOREIGN KEY (ocn) REFERENCES carriers (ocn)
) WITHOUT ROWID;
CREATE INDEX exchanges_by_ocn ON exchanges (ocn);
CREATE INDEX exchanges_by_state ON exchanges (state);
CREATE INDEX exchanges_by_rate_center ON exchanges (rate_center);
CREATE TABLE blocks (
  PRIMARY KEY (npa, nxx, block), FOREIGN KEY (npa, nxx) REFERENCES exchanges (npa, nxx),
  FOREIGN KEY (ocn) REFERENCES carriers (ocn)
) WITHOUT ROWID;
CREATE INDEX blocks_by_ocn ON blocks (ocn);
CREATE TABLE prefixes (
  PRIMARY KEY (prefix), FOREIGN KEY (ocn) REFERENCES carriers (ocn), FOREIGN KEY (next_ocn) REFERENCES carriers (ocn)
) WITHOUT ROWID;
CREATE TABLE dictionary (PRIMARY KEY (table_name, column_name));
CREATE TABLE provenance (PRIMARY KEY (name)) WITHOUT ROWID;

-- Blocks whose assignment has started by now.
CREATE VIEW effective_blocks AS
  SELECT * FROM blocks WHERE effective_date IS NULL OR effective_date <= date('now');
CREATE VIEW holders_by_area_code AS
  SELECT npa, ocn, count(*) AS exchanges FROM exchanges WHERE status = 'ASSIGNED' AND ocn IS NOT NULL
  GROUP BY npa, ocn;
