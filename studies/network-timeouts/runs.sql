CREATE TABLE runs AS
SELECT *, "traffic.timeout" AS timeout
FROM results.runs JOIN requests USING (run) ORDER BY results.runs.rowid;
