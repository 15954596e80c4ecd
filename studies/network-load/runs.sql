CREATE TABLE runs AS
SELECT *, "traffic.outstanding" AS outstanding
FROM results.runs JOIN requests USING (run) ORDER BY results.runs.rowid;
