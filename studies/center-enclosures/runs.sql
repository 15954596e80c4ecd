CREATE TABLE runs AS
SELECT *, "cluster.parts.2.count" AS enclosures, "recovery.bandwidth" / 8 AS rebuild_rate,
  regexp_extract(faults, 'enclosure\.([0-9])', 1) AS lost, CAST(unrecoverable_objects > 0 AS DOUBLE) AS is_dead
FROM results.runs;
