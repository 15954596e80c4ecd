CREATE TABLE runs AS
SELECT *, "traffic.reads" AS reads, "redundancy.code" AS code, "faults.0.corrupt.code" AS corrupt_code,
  upper(split_part("redundancy.code", ' ', 1)) AS coded,
  upper(split_part("faults.0.corrupt.code", ' ', 1)) AS corrupted,
  "cluster.attachment" AS attachment, "lanes.clients" AS guaranteed,
  coalesce(MAP {'24': 'full', '12': 'half'}[system->>'$.cluster.fabric.topology.spines'],
    system->>'$.cluster.fabric.topology.label') AS bisection
FROM results.runs JOIN streams USING (run) ORDER BY results.runs.rowid;
