-- A row a run: what is wrong, whether the jobs meet, and how many times its own length the slowest burst of each took that ended.
CREATE TABLE runs AS
WITH bursts AS (
  SELECT run, max(slowed) AS slowest, max(slowed) FILTER (job = 'climate') AS climate, max(slowed) FILTER (job = 'combustion') AS combustion
  FROM jobs GROUP BY run
), told AS (
  SELECT run, json_array_length(system->'$.faults') AS wrongs, system->>'$.faults' AS words, CAST(system->>'$.traffic.jobs[1].start' AS DOUBLE) AS start FROM results.runs
)
SELECT *, start < 20 AS meet,
  CASE WHEN wrongs = 0 THEN 'all well' WHEN wrongs = 3 THEN 'all three' WHEN words LIKE '%0.8%' THEN 'slow disks' WHEN words LIKE '%server.1%' THEN 'server gone' ELSE 'rebuild' END AS wrong
FROM results.runs AS own JOIN bursts USING (run) JOIN told USING (run);
