CREATE TABLE runs AS
SELECT *, "cluster.attachment" AS attachment
FROM results.runs JOIN streams USING (run) ORDER BY results.runs.rowid;
